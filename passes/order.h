/* order: see order.c. */
#ifndef PASSES_ORDER_H
#define PASSES_ORDER_H

#include "grouping.h"

/* Gives the steps of the schedule the order that needs the least memory, and says in s->order how well it
 * looked. */
void pass_order_steps(Grouping *b);
/* For tests: the most orders that are followed at a time; 0: as many as ever. */
void pass_order_at_most(int orders);

#endif
