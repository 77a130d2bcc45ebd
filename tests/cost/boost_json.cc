// Boost.JSON compiled into this program, in place of the installed library, so that its steps are
// counted.
#include <boost/json/src.hpp>  // NOLINT: this is how Boost wants it
