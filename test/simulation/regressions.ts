/** Seeds that found a bug once. They always run. When the generator changes, these seeds produce different cases. */
export const regressions: readonly number[] = [
  ...[
    20, 23, 39, 70, 215, 269, 277, 317, 437, 444, 522, 776, 862, 1058, 1419, 1516, 1852, 2830, 2981, 4014, 4102, 13842,
    300_408, 401_594, 729_639,
  ],
  ...[125, 378, 440, 736, 2560, 2660, 3035, 3146, 4109, 5383],
]
