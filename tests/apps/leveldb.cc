/* leveldb.cc - LevelDB by many threads: leveldb MODE FOLDER THREADS TIMES
 *
 * readrandom         each thread reads random keys
 * readwhilewriting   the same, while one more thread overwrites them
 * fillrandom         each thread overwrites random keys; writers queue up, and each waits on a condition of its own
 */
#include "timing.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace
{
constexpr int keys = 20000;

std::string key(uint64_t n)
{
    char text[32];
    snprintf(text, sizeof text, "%016ju", (uintmax_t)n);
    return text;
}

/* Any version of a value says whose it is. */
std::string value(uint64_t n, uint64_t version)
{
    return key(n) + "/" + key(version) + std::string(68, 'x');
}

bool belongs(const std::string &text, uint64_t n)
{
    return text.size() == 101 && text.compare(0, 17, key(n) + "/") == 0 &&
           text.compare(33, 68, std::string(68, 'x')) == 0;
}

void check(const leveldb::Status &status)
{
    if (status.ok())
        return;
    fprintf(stderr, "leveldb: %s\n", status.ToString().c_str());
    exit(1);
}

struct outcome {
    uint64_t good = 0, bad = 0, sum = 0;
};

void read_keys(leveldb::DB *db, uint64_t seed, int reads, outcome *o)
{
    std::string text;
    for (int i = 0; i < reads; i++) {
        uint64_t n = timing_random(&seed) % keys;
        check(db->Get(leveldb::ReadOptions(), key(n), &text));
        (belongs(text, n) ? o->good : o->bad)++;
        o->sum += n;
    }
}

uint64_t overwrite_one(leveldb::DB *db, uint64_t *seed, uint64_t version)
{
    uint64_t n = timing_random(seed) % keys;
    check(db->Put(leveldb::WriteOptions(), key(n), value(n, version)));
    return n;
}

void overwrite_keys(leveldb::DB *db, uint64_t seed, int writes, outcome *o)
{
    for (int i = 0; i < writes; i++, o->good++)
        o->sum += overwrite_one(db, &seed, uint64_t(i));
}

void overwrite_until(leveldb::DB *db, const std::atomic<bool> &stop)
{
    uint64_t version = 0, seed = 88172645463325252u;
    while (!stop.load())
        overwrite_one(db, &seed, ++version);
}

/* Every key once and in order, whatever was written meanwhile. */
void print_contents(leveldb::DB *db)
{
    std::unique_ptr<leveldb::Iterator> i(db->NewIterator(leveldb::ReadOptions()));
    uint64_t n = 0, good = 0;
    for (i->SeekToFirst(); i->Valid(); i->Next(), n++)
        good += i->key().ToString() == key(n) && belongs(i->value().ToString(), n);
    check(i->status());
    printf("%ju keys, %ju good\n", (uintmax_t)n, (uintmax_t)good);
}
} // namespace

int main(int argc, char **argv)
{
    int threads = argc == 5 ? atoi(argv[3]) : 0;
    if (threads < 1) {
        fprintf(stderr, "usage: leveldb readrandom|readwhilewriting|fillrandom FOLDER THREADS TIMES\n");
        return 2;
    }
    int times = atoi(argv[4]);
    leveldb::Options options;
    options.create_if_missing = true;
    leveldb::DB *opened;
    check(leveldb::DB::Open(options, std::string(argv[2]) + "/leveldb", &opened));
    std::unique_ptr<leveldb::DB> db(opened);
    for (uint64_t n = 0; n < keys; n++)
        check(db->Put(leveldb::WriteOptions(), key(n), value(n, 0)));
    db->CompactRange(nullptr, nullptr);

    std::atomic<bool> stop{false};
    std::thread writer;
    if (strcmp(argv[1], "readwhilewriting") == 0)
        writer = std::thread([&] { overwrite_until(db.get(), stop); });
    std::vector<outcome> outcomes(threads);
    std::vector<std::thread> team;
    auto work = strcmp(argv[1], "fillrandom") == 0 ? overwrite_keys : read_keys;
    double began = timing_now();
    for (int t = 0; t < threads; t++)
        team.emplace_back(work, db.get(), 1 + t, times, &outcomes[t]);
    for (auto &member : team)
        member.join();
    timing_report(began, uint64_t(threads) * uint64_t(times));
    stop = true;
    if (writer.joinable())
        writer.join();
    for (int t = 0; t < threads; t++)
        printf("thread %d: %ju good, %ju bad, sum %ju\n", t, (uintmax_t)outcomes[t].good,
               (uintmax_t)outcomes[t].bad, (uintmax_t)outcomes[t].sum);
    print_contents(db.get());
    return 0;
}
