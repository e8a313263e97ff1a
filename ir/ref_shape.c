#include "ref.h"
void ref_distance(const uint8_t *m, RefShape s, const double p[3], float *o){(void)m;(void)s;(void)p;(void)o;}
void ref_nearest_label(const uint32_t *l, RefShape s, double li, const double p[3], uint32_t *o){(void)l;(void)s;(void)li;(void)p;(void)o;}
uint32_t ref_watershed(const float *i, const uint32_t *m, const uint8_t *k, RefShape s,int c, bool l, uint32_t *o){(void)i;(void)m;(void)k;(void)s;(void)c;(void)l;(void)o;return 0;}
void ref_reconstruct(const float *a, const float *b, RefShape s, int c,bool e, float *o){(void)a;(void)b;(void)s;(void)c;(void)e;(void)o;}
void ref_local_maxima(const float *v, RefShape s, int c, uint8_t *o){(void)v;(void)s;(void)c;(void)o;}
void ref_hull(const uint32_t *l, RefShape s, uint32_t c, uint8_t *o){(void)l;(void)s;(void)c;(void)o;}
