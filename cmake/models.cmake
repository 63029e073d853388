# The safety models that tests run under. A preset that is added to the library is added to HEDDLE_PRESETS and nowhere
# else.

# All presets of src/messaging/engine/presets.cpp.
set(HEDDLE_PRESETS auto mtx clh p-clh clh-usc p-clh-usc mtx-ksc p-clhub-usc p-hclhub-usc global per-vni hmcs2-usc
    hmcs3-usc offload csync lockq-mcs lockq-mtx coarse fine flux)

# Some of the hundreds of free compositions.
list(APPEND HEDDLE_PRESETS auto,vnis=4 lock=ttas,submit=lockq,wait=ksc lock=hclhub,submit=wait,wait=contend-low,vnis=3
     lock=mcs,submit=inject,wait=usc,vnis=2 lock=ticket,submit=flux,wait=adaptive,vnis=3)

# The ways of waiting that differ most: those that a policy of waiting (HEDDLE_WAIT) is tested with.
set(HEDDLE_WAITING_PRESETS auto global offload)

# The few that differ most from each other. They stand for all where running every preset would take too long.
set(HEDDLE_FEW_PRESETS auto global lockq-mtx)

# All strategies of the outbox (src/messaging/message/outbox/strategies.cpp) beside the default one, which every other test runs under. One that is
# added to the library is added here and nowhere else.
set(HEDDLE_OTHER_STRATEGIES direct priority auto split)

# What a model that sends by fluxes says on a machine that has not what they need (src/network/shm/stamp.cpp): its tests are skipped there.
set(HEDDLE_NO_FLUX_HERE "submit=flux needs time-stamp counters that agree on all cores")
# The same for lanes.
set(HEDDLE_NO_LANES_HERE "lanes=[0-9]+ needs time-stamp counters that agree on all cores")
