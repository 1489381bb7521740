/* exitcode N -- exits with it. */
#include "work.h"

int main(int argc, char **argv)
{
	return (int)number(argc, argv, 1, 0);
}
