/* futex_stacks.h - of the kernel's side: the stack of the thread that runs, by a number
 *
 * Like futex.bpf.c, it may be used under the terms of the Apache License 2.0 or of the GPL, version 2.
 */
#pragma once

static int is_code(uint64_t word)
{
    for (int i = 0; i < ATTACH_RANGES; i++)
        if (word - range_from[i] < range_to[i] - range_from[i])
            return 1;
    return 0;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    return hash ^ hash >> 29;
}

/* A loop that the verifier follows, not bpf_loop(): no call for each word. */
static uint64_t hash_of(const struct attach_sample *s, struct pt_regs *r)
{
    uint64_t hash = mix(1, r->ip), from = (r->sp - s->base) & (ATTACH_CHUNK - 8);
    for (uint32_t i = 0; i < ATTACH_HASHED / 8; i++) {
        uint64_t at = from + i * 8;
        if (at + 8 > s->size || at > ATTACH_STACK - 8)
            break;
        uint64_t word = *(const uint64_t *)&s->bytes[at];
        if (is_code(word))
            hash = mix(hash, word);
    }
    return hash;
}

static long read_chunk(uint32_t i, void *input)
{
    struct attach_sample *s = *(struct attach_sample **)input;
    uint32_t at = (i * ATTACH_CHUNK) & (ATTACH_STACK - ATTACH_CHUNK);
    if (bpf_probe_read_user(&s->bytes[at], ATTACH_CHUNK, (void *)(s->base + at)) != 0)
        return 1;
    s->size = at + ATTACH_CHUNK;
    return 0;
}

static void take_registers(struct attach_sample *s, struct pt_regs *r)
{
    uint64_t *to = s->registers; /* in DWARF's order */
    to[0] = r->ax, to[1] = r->dx, to[2] = r->cx, to[3] = r->bx, to[4] = r->si, to[5] = r->di, to[6] = r->bp;
    to[ATTACH_SP] = r->sp;
    to[8] = r->r8, to[9] = r->r9, to[10] = r->r10, to[11] = r->r11;
    to[12] = r->r12, to[13] = r->r13, to[14] = r->r14, to[15] = r->r15;
    to[ATTACH_PC] = r->ip;
}

/* The number of the stack in the sample; 0 if it could not be kept. */
static uint64_t number_of(struct attach_sample *s, struct pt_regs *r)
{
    uint32_t zero = 0;
    uint64_t hash = hash_of(s, r);
    if (bpf_map_lookup_elem(&stacks, &hash) != NULL)
        return hash;
    if (bpf_map_update_elem(&stacks, &hash, &zero, BPF_ANY) == 0) {
        s->stack = hash;
        take_registers(s, r);
        if (bpf_ringbuf_output(&ring, s, sizeof *s, 0) == 0)
            return hash;
        bpf_map_delete_elem(&stacks, &hash);
    }
    __sync_fetch_and_add(&lost_stacks, 1);
    return 0;
}

static void begin(struct attach_sample *s, struct pt_regs *r)
{
    s->type = ATTACH_SAMPLE;
    s->base = r->sp & ~(uint64_t)(ATTACH_CHUNK - 1);
    s->size = 0;
}

static uint64_t stack_of(struct pt_regs *r)
{
    uint32_t zero = 0;
    struct attach_sample *s = bpf_map_lookup_elem(&scratch, &zero);
    if (s == NULL)
        return 0;
    begin(s, r);
    bpf_loop(ATTACH_STACK / ATTACH_CHUNK, read_chunk, &s, 0);
    return number_of(s, r);
}
