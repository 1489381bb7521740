/* hold MIB MILLISECONDS -- keeps so much anonymous memory, all of it touched, for so long. */
#include "work.h"

int main(int argc, char **argv)
{
	long bytes = (long)number(argc, argv, 1, 10) * MIB;

	(void)touched(bytes, MAP_PRIVATE);
	sleep_s(number(argc, argv, 2, 1000) / 1000);
	(void)printf("{\"bytes\": %ld}\n", bytes);
	return 0;
}
