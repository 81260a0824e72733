// culprit_leveldb.cc - LevelDB's background thread lists the folder with the database's mutex held, and a read waits: culprit_leveldb FOLDER
//
// The folder is slow here: the list is ready only after the read has fallen asleep. Who is to blame is the line of LevelDB that took the
// mutex back before.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include <leveldb/db.h>
#include <leveldb/env.h>

#include "asleep.h"

enum { HOLD_MS = 10, ROUNDS = 3 };

static std::atomic<pid_t> reader{0};
static std::atomic<bool> slow{false}, listing{false};

class SlowFolder : public leveldb::EnvWrapper
{
  public:
    SlowFolder() : EnvWrapper(leveldb::Env::Default())
    {
    }

    leveldb::Status GetChildren(const std::string &folder, std::vector<std::string> *names) override
    {
        if (slow.exchange(false)) {
            listing = true;
            while (reader == 0 || !is_asleep(reader))
                nap(1);
            nap(HOLD_MS);
        }
        return EnvWrapper::GetChildren(folder, names);
    }
};

static void check(const leveldb::Status &status)
{
    if (status.ok())
        return;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::exit(1);
}

static void look_up(leveldb::DB *db)
{
    std::string value;
    while (!listing)
        nap(1);
    reader = gettid();
    check(db->Get(leveldb::ReadOptions(), "key", &value));
}

int main(int, char **argv)
{
    SlowFolder env;
    leveldb::Options options;
    leveldb::DB *db;
    options.create_if_missing = true;
    options.env = &env;
    check(leveldb::DB::Open(options, argv[1], &db));
    for (int i = 0; i < ROUNDS; i++) {
        check(db->Put(leveldb::WriteOptions(), "key", std::to_string(i)));
        listing = false;
        reader = 0;
        slow = true;
        std::thread other(look_up, db);
        db->CompactRange(nullptr, nullptr);
        other.join();
    }
    delete db;
}
