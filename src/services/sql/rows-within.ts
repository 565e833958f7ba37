/** How many of the rows a page has: up to the row that reaches `maxBytes`. Each row has its length in the column `bytes`. */
export function countRowsWithin(rows: readonly { readonly [column: string]: unknown }[], maxBytes: number): number {
  let bytes = 0
  let count = 0
  while (count < rows.length && bytes < maxBytes) bytes += Number(rows[count++]?.bytes)
  return count
}
