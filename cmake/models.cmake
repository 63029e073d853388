# The safety models that tests run under. A preset that is added to the library is added to HEDDLE_PRESETS and nowhere
# else.

# All presets of src/p2p/presets.cpp.
set(HEDDLE_PRESETS futex global mtx)

# The few that differ most from each other. They stand for all where running every preset would take too long.
set(HEDDLE_FEW_PRESETS futex global mtx)
