// A step of the build: short names for the members of @tanstack/virtual-core that the page does not use. They are a quarter of it.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type MinifyOptions, minify_sync } from 'terser'
import type { Plugin } from 'vite'

/** The members that `ui/VirtualList.tsx` names. They keep their names. */
const USED = [
  ...['count', 'getScrollElement', 'estimateSize', 'getItemKey', 'overscan', 'anchorTo', 'scrollToFn', 'onChange'],
  ...['observeElementRect', 'observeElementOffset', 'setOptions', '_didMount', '_willUpdate', 'scrollOffset'],
  ...['getVirtualItems', 'getTotalSize', 'measureElement', 'scrollToIndex', 'align', 'index', 'key', 'start', 'end'],
  'shouldAdjustScrollPositionOnItemSizeChange',
]

/** Shortens the names in all files of the package at once, in a fixed order, so that each name is the same in all of them. */
export const shortVirtualList: Plugin = {
  name: 'short-virtual-list',
  load: {
    filter: { id: /\/virtual-core\/dist\/esm\/[\w-]+\.js$/ },
    handler(id) {
      const folder = dirname(id)
      const mangle = { toplevel: false, properties: { reserved: USED } }
      const options: MinifyOptions = { module: true, compress: false, mangle, nameCache: {} }
      const shorten = (name: string): readonly [string, string | undefined] => {
        const path = join(folder, name)
        return [path, minify_sync(readFileSync(path, 'utf8'), options).code]
      }
      const code = new Map(globSync('*.js', { cwd: folder }).sort().map(shorten)).get(id)
      return code === undefined ? undefined : { code, map: null }
    },
  },
}
