#pragma once
/*
 * price -- what one group of metrics costs: a sample, and each process in it.
 */
struct as_price {
	double sample_ns, process_ns; /* CPU time     */
	double sample_calls, process_calls;
};
