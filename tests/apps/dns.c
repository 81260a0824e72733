/* dns.c - asks a name server on this machine: dns PORT THREADS QUERIES NAMES
 *
 * Threads ask for the addresses of n<number>.example. and check every answer: name n has the address 10.0.0.0 + n.
 * One batch of questions is out at a time; what was not answered in time is asked again, as UDP requires. The server
 * assigns clients to its threads by port, so each thread here changes its port often: with one port each, chance would
 * give one run a busy server thread and three idle ones, and the next run an even load.
 */
#include "timing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    BATCH = 32,
    MESSAGE = 512,
    HEADER = 12,
    MAX_THREADS = 64,
    BATCHES_OF_A_PORT = 16,
    PATIENCE = 3000 /* times 100 ms */
};

typedef struct client {
    pthread_t thread;
    int port, queries;
    uint32_t names;
    uint64_t random;
    int good, bad;
} client;

static size_t write_query(unsigned char *m, uint16_t id, uint32_t number)
{
    memset(m, 0, HEADER);
    m[0] = (unsigned char)(id >> 8);
    m[1] = (unsigned char)id;
    m[2] = 1; /* recursion desired */
    m[5] = 1; /* one question */
    int label = snprintf((char *)m + HEADER + 1, 16, "n%u", number);
    m[HEADER] = (unsigned char)label;
    static const unsigned char rest[] = "\7example\0\0\1\0\1"; /* the name's end, type A, class IN */
    memcpy(m + HEADER + 1 + label, rest, sizeof rest - 1);
    return HEADER + 1 + (size_t)label + sizeof rest - 1;
}

/* The address is the end of the only record. */
static bool good_answer(const unsigned char *m, size_t size, uint32_t number)
{
    uint32_t address = htonl(0x0a000000 + number);
    return size > HEADER + 16 && (m[3] & 15) == 0 && m[7] == 1 && memcmp(m + size - 4, &address, 4) == 0;
}

static int connect_to(int port)
{
    int s = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in server = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval timeout = {.tv_usec = 100000};
    if (s < 0 || connect(s, (struct sockaddr *)&server, sizeof server) != 0 ||
        setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout) != 0) {
        perror("dns");
        exit(1);
    }
    return s;
}

typedef struct batch {
    uint32_t numbers[BATCH];
    bool answered[BATCH];
    int size, open;
    uint16_t first_id; /* other numbers than in the last batches, which may still be answered */
} batch;

static void ask(int s, const batch *b)
{
    unsigned char text[BATCH][MESSAGE];
    struct iovec parts[BATCH];
    struct mmsghdr messages[BATCH];
    unsigned count = 0;
    memset(messages, 0, sizeof messages);
    for (int i = 0; i < b->size; i++) {
        if (b->answered[i])
            continue;
        parts[count] =
            (struct iovec){text[count], write_query(text[count], (uint16_t)(b->first_id + i), b->numbers[i])};
        messages[count].msg_hdr.msg_iov = &parts[count];
        messages[count].msg_hdr.msg_iovlen = 1;
        count++;
    }
    sendmmsg(s, messages, count, 0); /* a lost one is asked again */
}

/* Whether anything came. */
static bool hear(int s, batch *b, client *c)
{
    unsigned char text[BATCH][MESSAGE];
    struct iovec parts[BATCH];
    struct mmsghdr messages[BATCH];
    memset(messages, 0, sizeof messages);
    for (int i = 0; i < BATCH; i++) {
        parts[i] = (struct iovec){text[i], MESSAGE};
        messages[i].msg_hdr.msg_iov = &parts[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
    int count = recvmmsg(s, messages, BATCH, MSG_WAITFORONE, NULL);
    for (int i = 0; i < count; i++) {
        int id = (uint16_t)((text[i][0] << 8 | text[i][1]) - b->first_id);
        if (messages[i].msg_len < HEADER || id >= b->size || b->answered[id])
            continue;
        b->answered[id] = true;
        b->open--;
        (*(good_answer(text[i], messages[i].msg_len, b->numbers[id]) ? &c->good : &c->bad))++;
    }
    return count > 0;
}

static void *work(void *argument)
{
    client *c = argument;
    int s = connect_to(c->port), patience = PATIENCE;
    uint16_t first_id = 0;
    for (int left = c->queries, batches = 0; left > 0; left -= BATCH, batches++) {
        if (batches == BATCHES_OF_A_PORT) {
            close(s);
            s = connect_to(c->port);
            batches = 0;
        }
        batch b = {.size = left < BATCH ? left : BATCH, .first_id = first_id};
        first_id += BATCH;
        b.open = b.size;
        for (int i = 0; i < b.size; i++)
            b.numbers[i] = (uint32_t)(timing_random(&c->random) % c->names);
        ask(s, &b);
        while (b.open > 0) {
            if (hear(s, &b, c)) {
                patience = PATIENCE;
                continue;
            }
            if (--patience == 0) {
                fprintf(stderr, "dns: no answer\n");
                exit(1);
            }
            usleep(10000); /* refused: it is not listening yet */
            ask(s, &b);
        }
    }
    close(s);
    return NULL;
}

int main(int argc, char **argv)
{
    static client clients[MAX_THREADS];
    int threads = argc == 5 ? atoi(argv[2]) : 0, good = 0, bad = 0;
    if (threads < 1 || threads > MAX_THREADS) {
        fprintf(stderr, "usage: dns PORT THREADS QUERIES NAMES\n");
        return 2;
    }
    client first = {.port = atoi(argv[1]), .queries = 1, .names = 1, .random = 1};
    work(&first); /* waits for the server */
    double began = timing_now();
    for (int i = 0; i < threads; i++) {
        clients[i] = (client){.port = first.port,
                              .queries = atoi(argv[3]),
                              .names = (uint32_t)atoi(argv[4]),
                              .random = 1 + (uint64_t)i};
        pthread_create(&clients[i].thread, NULL, work, &clients[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(clients[i].thread, NULL);
        good += clients[i].good;
        bad += clients[i].bad;
    }
    timing_report(began, (uint64_t)good);
    printf("%d good answers, %d bad\n", good, bad);
    return 0;
}
