#pragma once

extern int loom_width;

int loom_constructed(void);
int loom_pass(void);
int loom_passes(void);
int loom_pick(void);
int* loom_width_place(void);
