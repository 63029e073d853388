# Seconds after which a test counts as hanging. Not a measure of speed: most need less than one, but on a machine that
# others keep busy, or under a sanitizer or valgrind, one may take many times as long as it does alone.
set(HEDDLE_TEST_LIMIT 240)
if(HEDDLE_SANITIZE MATCHES thread)
  math(EXPR HEDDLE_TEST_LIMIT "5 * ${HEDDLE_TEST_LIMIT}")
elseif(HEDDLE_TEST_UNDER)
  math(EXPR HEDDLE_TEST_LIMIT "10 * ${HEDDLE_TEST_LIMIT}")
elseif(HEDDLE_SANITIZE)
  math(EXPR HEDDLE_TEST_LIMIT "2 * ${HEDDLE_TEST_LIMIT}")
endif()
