// form.cc - what the compiler can tell: sizes, requirements, results
#include <pawl.hpp>

#include "promise.h"

#include <new>

namespace
{

template <class L, class = void>
struct can_try : std::false_type {
};
template <class L>
struct can_try<L, std::void_t<decltype(std::declval<L &>().try_lock())>>
    : std::is_same<bool, decltype(std::declval<L &>().try_lock())> {
};

template <class L, class = void>
struct can_lock : std::false_type {
};
template <class L>
struct can_lock<L, std::void_t<decltype(std::declval<L &>().lock(), std::declval<L &>().unlock())>>
    : std::true_type {
};

template <class L, class = void>
struct can_time : std::false_type {
};
template <class L>
struct can_time<L,
                std::void_t<decltype(std::declval<L &>().try_lock_for(std::chrono::hours(1)),
                                     std::declval<L &>().try_lock_until(std::chrono::system_clock::now()))>>
    : std::true_type {
};

template <class L>
constexpr bool stays_put = !std::is_copy_constructible_v<L> && !std::is_move_constructible_v<L> &&
                           !std::is_copy_assignable_v<L> && !std::is_move_assignable_v<L>;

template <class Context>
constexpr bool is_told_nothing = std::is_same_v<Context, pawl_no_ctx>;

#define PAWL_LOCK(name, form, ...)                                                                           \
    static_assert(std::is_same_v<pawl::name, pawl::basic_lock<pawl::traits::name>>);                         \
    static_assert(std::is_same_v<pawl::name::native_handle_type, pawl_##name *>);                            \
    static_assert(can_lock<pawl::name>::value && can_try<pawl::name>::value == PAWL_HAS(form, TRYLOCK));     \
    static_assert(!can_time<pawl::name>::value && !can_lock<pawl::raw<pawl::traits::name>>::value);          \
    static_assert(stays_put<pawl::name> && stays_put<pawl::guard<pawl::name>>);                              \
    static_assert(std::is_nothrow_default_constructible_v<pawl::name>);                                      \
    static_assert(std::is_trivially_destructible_v<pawl::name> != PAWL_HAS(form, IDLE));                     \
    static_assert(alignof(pawl::name) == alignof(pawl_##name));                                              \
    static_assert(sizeof(pawl::raw<pawl::traits::name>) == sizeof(pawl_##name));                             \
    static_assert((sizeof(pawl::name) == sizeof(pawl_##name)) == is_told_nothing<PAWL_CTX_OF(name, form)>);  \
    pawl::name constant_##name;
#include <pawl/locks.def>
#undef PAWL_LOCK

static_assert(sizeof(pawl::ticket) == sizeof(pawl_ticket));
static_assert(sizeof(pawl::mcs) == sizeof(pawl_mcs) + sizeof(pawl_mcs_ctx));
static_assert(sizeof(pawl::mutex) == sizeof(pawl_mutex) && sizeof(pawl::timed_mutex) == sizeof(pawl_mutex));
static_assert(sizeof(pawl::fair_mutex) == sizeof(pawl_fairmutex));
static_assert(sizeof(pawl::condition_variable) == sizeof(pawl_cond));
static_assert(can_try<pawl::mutex>::value && !can_time<pawl::mutex>::value);
static_assert(can_try<pawl::timed_mutex>::value && can_time<pawl::timed_mutex>::value);
static_assert(can_try<pawl::fair_mutex>::value && can_time<pawl::fair_mutex>::value);
static_assert(stays_put<pawl::mutex> && stays_put<pawl::timed_mutex> && stays_put<pawl::condition_variable>);

// Initialised before anything runs.
[[maybe_unused]] constexpr pawl::ticket ticket_constant;
[[maybe_unused]] constexpr pawl::mutex mutex_constant;
[[maybe_unused]] constexpr pawl::condition_variable condition_constant;

// What the lambda returns is what comes back, references and all.
template <class L, class Result>
using sum = decltype(std::declval<L &>() + std::declval<Result (*)()>());
static_assert(std::is_same_v<void, sum<pawl::mcs, void>> && std::is_same_v<int, sum<pawl::mutex, int>>);
static_assert(std::is_same_v<int &, sum<pawl::clh, int &>>);
static_assert(std::is_same_v<const int &&, sum<pawl::raw<pawl::traits::mcs>, const int &&>>);

template <class L, class F, class = void>
struct can_add : std::false_type {
};
template <class L, class F>
struct can_add<L, F, std::void_t<decltype(std::declval<L &>() + std::declval<F>())>> : std::true_type {
};
static_assert(!can_add<pawl::mutex, int>::value && !can_add<pawl::mutex, void (*)(int)>::value);

// Or does not return.
template <class L>
bool is_unlocked(L &l)
{
    bool locked = true;
    if constexpr (can_try<L>::value)
        locked = l.try_lock();
    else
        l.lock();
    if (locked)
        l.unlock();
    return locked;
}

} // namespace

// One promise at run time: memory that was used before does not show through.
int main()
{
#define PAWL_LOCK(name, ...)                                                                                 \
    {                                                                                                        \
        alignas(pawl::name) static unsigned char memory[sizeof(pawl::name)];                                 \
        for (auto &byte : memory)                                                                            \
            byte = 0xa5;                                                                                     \
        auto *l = new (memory) pawl::name;                                                                   \
        promise(#name, "starts_unlocked", is_unlocked(*l) && is_unlocked(constant_##name));                  \
        l->~basic_lock();                                                                                    \
    }
#include <pawl/locks.def>
#undef PAWL_LOCK
    return verdict();
}
