# What Perl's threads do: shared counters, a condition variable, a queue.
use strict;
use warnings;
use threads;
use threads::shared;
use Thread::Queue;

my $rounds = shift;
my $counter : shared = 0;
my $turn : shared = 0;
my $queue = Thread::Queue->new;

my @counting = map { threads->create(sub { for (1 .. $rounds) { lock($counter); $counter++; } }) } 1 .. 4;
$_->join for @counting;
print "counter $counter\n";

my @turning = map {
    my $me = $_;
    threads->create(sub {
        for (1 .. $rounds / 20) {
            lock($turn);
            cond_wait($turn) while $turn % 3 != $me;
            $turn++;
            cond_broadcast($turn);
        }
    });
} 0 .. 2;
$_->join for @turning;
print "turn $turn\n";

my @taking = map { threads->create(sub { my $sum = 0; while (defined(my $n = $queue->dequeue)) { $sum += $n } $sum }) } 1 .. 2;
$queue->enqueue($_) for 1 .. $rounds;
$queue->end;
my $sum = 0;
$sum += $_->join for @taking;
print "sum $sum\n";
