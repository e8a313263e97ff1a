/* stack: the sanitizers' frames are several times as large, and so are their stacks. */
#include "stack.h"

#include <stdint.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { WIDER = 4 };
#else
enum { WIDER = 1 };
#endif

static _Thread_local uintptr_t low; /* below this address the stack is low; 0: nobody knows */

typedef struct Run {
    int (*body)(void *context);
    void *context;
    int result;
} Run;

bool stack_thread(pthread_t *thread, size_t bytes, void *(*body)(void *context), void *context)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0) {
        return false;
    }
    bool ok = pthread_attr_setstacksize(&attributes, bytes * WIDER) == 0 &&
              pthread_create(thread, &attributes, body, context) == 0;
    (void)pthread_attr_destroy(&attributes);
    return ok;
}

bool stack_is_low(void)
{
    char here;
    return low != 0 && (uintptr_t)&here < low;
}

static void *run(void *context)
{
    Run *r = context;
    char here;
    low = (uintptr_t)&here - (uintptr_t)STACK_DEEP * WIDER / 4 * 3;
    r->result = r->body(r->context);
    return NULL;
}

int stack_run(int (*body)(void *context), void *context)
{
    Run r = {body, context, 0};
    pthread_t thread;
    if (!stack_thread(&thread, STACK_DEEP, run, &r)) {
        return body(context);
    }
    (void)pthread_join(thread, NULL);
    return r.result;
}
