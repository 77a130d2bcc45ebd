#include "app/cli.h"

int main(int argc, char** argv) { return muster::app::run(argc, argv); }
