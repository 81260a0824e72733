/* interface.c - every type that a program may have in its memory, and every inline function that calls the library */
#include <pawl.h>
#include <pawl/shared.h>

#define PAWL_LOCK(name, form, ...)                                                                           \
    pawl_##name abi_##name;                                                                                  \
    PAWL_CTX_OF(name, form) abi_##name##_ctx;                                                                \
    void abi_use_##name(void);                                                                               \
    void abi_use_##name(void)                                                                                \
    {                                                                                                        \
        PAWL_CALL(name, form, lock, &abi_##name, &abi_##name##_ctx);                                         \
        PAWL_CALL(name, form, unlock, &abi_##name, &abi_##name##_ctx);                                       \
        PAWL_IF(form, TRYLOCK, PAWL_CALL(name, form, trylock, &abi_##name, &abi_##name##_ctx), (void)0);     \
        PAWL_IF(form, DESTROY, pawl_##name##_destroy(&abi_##name), (void)0);                                 \
        PAWL_IF(form, IDLE, pawl_##name##_release_idle(&abi_##name, &abi_##name##_ctx), (void)0);            \
        PAWL_IF(form, OBLIVIOUS, pawl_##name##_acquire_oblivious(&abi_##name, &abi_##name##_ctx), (void)0);  \
        PAWL_IF(form, DEADLINE, pawl_##name##_clocklock(&abi_##name, 0, NULL), (void)0);                     \
    }
#include <pawl/locks.def>
#undef PAWL_LOCK

pawl_cond abi_cond;
pawl_semaphore abi_semaphore;
pawl_sleeper abi_sleeper;
pawl_waiter abi_waiter;
pawl_mutex_shared abi_mutex_shared;
pawl_hapax_shared abi_hapax_shared;

void abi_use_others(void);
void abi_use_others(void)
{
    pawl_mutex_unlock_fair(&abi_mutex);
    pawl_cond_wait(&abi_cond, &abi_mutex);
    pawl_cond_clockwait(&abi_cond, &abi_mutex, 0, NULL);
    pawl_cond_wait_fair(&abi_cond, &abi_fairmutex);
    PAWL_COND_WAIT(&abi_cond, mcs, &abi_mcs, &abi_mcs_ctx);
    pawl_cond_signal(&abi_cond);
    pawl_cond_broadcast(&abi_cond);
    pawl_mcs_clocklock(&abi_mcs, &abi_mcs_ctx, 0, NULL);
    pawl_reciprocating_clocklock(&abi_reciprocating, &abi_reciprocating_ctx, 0, NULL);
    pawl_semaphore_take(&abi_semaphore);
    pawl_semaphore_clocktake(&abi_semaphore, 0, NULL);
    pawl_semaphore_post(&abi_semaphore);
    pawl_destroy(&abi_mcs);
}
