/* region.h - memory for locks that processes share
 *
 * A region is a file (of memfd_create(), shm_open() or open()) that several processes map, each at its own address.
 * It holds what the locks of <pawl/shared.h> need besides their own 16 bytes, and memory for the program:
 *
 *   header     magic, version, byte order, C library, sizes; written last, so that nobody sees half of it
 *   seats      1023; each thread that uses shared locks has one. A seat tells whether its thread is alive, issues its
 *              hapaxes, and is where the thread behind it in a queue waits and sleeps
 *   memory     for the program, zero at first: pawl_region_memory()
 *
 * Processes that share a region trust one another: each can write all of it. Linux only.
 */
#pragma once

#include <stddef.h>

#if !defined(__linux__)
#error "<pawl/region.h> needs Linux: other systems do not tell of a thread's death"
#endif

/* A region that this process has attached; at most PAWL_REGIONS at a time. */
typedef struct pawl_region pawl_region;

#define PAWL_REGIONS 8

#ifdef __cplusplus
extern "C" {
#endif

/* Makes an empty file a region with that much memory for the program, and attaches it. The file may be closed
 * afterwards. Returns 0 or an error:
 *
 *   EEXIST           the file is not empty
 *   EINVAL           the size is 0, or too large
 *   EMFILE           this process has PAWL_REGIONS regions already
 *   ENOTSUP          this kernel does not tell of a thread's death: no robust list
 *   or what the kernel says of the file: EBADF, EACCES, ENOSPC, ...
 *
 * After the last kind the file may be half a region, for which there is no use: others may have mapped it. */
int pawl_region_create(pawl_region **region, int file, size_t size);

/* Attaches a region that another process has made. Returns 0 or an error: EMFILE and ENOTSUP as above, and
 *
 *   EBADMSG          the file is no region
 *   EPROTONOSUPPORT  it is one of another version, byte order, or C library
 *   ENODATA          it is empty, or shorter than its header says
 *   EAGAIN           it is being made, or whoever made it died or failed halfway */
int pawl_region_attach(pawl_region **region, int file);

/* Unmaps it. EBUSY while this thread holds one of its locks, or another thread of this process that has used one
 * neither ended nor left. */
int pawl_region_detach(pawl_region *region);

/* Gives up this thread's seat, which it took with its first lock. A thread that ends leaves by itself; one that is not
 * the main thread and calls exec does not, and has to call this before. EBUSY while it holds a lock. */
int pawl_region_leave(pawl_region *region);

/* The program's part of it: at another address in each process, and aligned to a page of 4096 bytes. */
void *pawl_region_memory(const pawl_region *region);
size_t pawl_region_size(const pawl_region *region);

/* What an error of these functions means, as one line without a newline. */
const char *pawl_region_error(int error);

#ifdef __cplusplus
}
#endif
