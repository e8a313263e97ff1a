/*
 * devices: those that `--device` names: one as dev_open takes it, a list "#0,#1", or "all": every GPU of the host.
 */
#ifndef RUNTIME_DEVICES_H
#define RUNTIME_DEVICES_H

#include "engine.h"

typedef struct Devices {
    EngineDevice *at; /* a device that is named again is a spare one, behind it */
    int n;
} Devices;

/* Opens them; `options` are those of each.  Where `first` is not NULL it is the first one, open already.  Of "all" those
 * that cannot be opened are left out, as long as there is one; *why says it then, else it is left alone. */
bool devices_open(const DevOptions *options, Device *first, Devices *out, Err *why, Err *err);
/* A second user of each GPU that has one, so that an image is on the bus while another one is computed.  What has no room
 * for it goes without. */
void devices_double(Devices *devices);
/* All but those that stay open: *keep, where it is one of them. */
void devices_close(Devices *devices, const Device *keep);
/* Of the devices that --device names (NULL: all), the one of process `local` of this host, each in turn; owned by the caller
 * (free). */
bool devices_of_rank(const char *choice, int local, char **out, Err *err);
/* The first name of a list, for who plans for one device: NULL for "all".  `text` has room for as much as the choice. */
const char *devices_first(const char *choice, char *text);

#endif
