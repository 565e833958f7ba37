/** Seeds that once found something; always run. (A seed means something else when the generator changes: then it is one more.) */
export const regressions: readonly number[] = [20, 23, 70, 99, 277, 317, 437, 444, 1516, 1852, 4014]
