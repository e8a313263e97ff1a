/*
 * stack: threads whose stacks are large whatever `ulimit -s` says.
 *
 * The compiler goes down trees that users write and expressions that grow out of them, as deep as its limits allow;
 * drivers go down what they compile.  Memory that is never touched costs nothing.
 */
#ifndef BASE_STACK_H
#define BASE_STACK_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    STACK_DEEP = 128 << 20, /* for everything that the compiler's limits allow */
    STACK_DRIVER = 16 << 20 /* for a driver's compiler */
};

/* As pthread_create; false where no thread can be had. */
bool stack_thread(pthread_t *thread, size_t bytes, void *(*body)(void *context), void *context);
/* What the body returns, which runs on a deep stack; on the caller's where there is no memory for one. */
int stack_run(int (*body)(void *context), void *context);
/* Has less than a quarter been left of the stack on which stack_run runs its body?  Elsewhere never. */
bool stack_is_low(void);

#endif
