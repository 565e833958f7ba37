import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core'
import type { ComponentChildren, JSX, RefObject } from 'preact'
import { useCallback, useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks'
import { useFollowing } from './use-following.ts'

/** Props of a virtual list. */
export interface VirtualListProps<Item> {
  /** All items, in order. */
  readonly items: readonly Item[]
  /** Names the list for screen readers. */
  readonly label: string
  /** A height to assume until an item is measured, in pixels. */
  readonly estimate: number
  /** The key of an item. It stays the same when items are added before it. */
  keyOf(item: Item): string
  /** Renders an item. */
  render(item: Item): ComponentChildren
  /** Stays at the end when items are added there, as long as the user is there. */
  readonly isFollowing?: boolean | undefined
  /** Called when the first items come into view. */
  onStart?: (() => void) | undefined
  /** The element that scrolls, for the caller. */
  readonly scroller?: RefObject<HTMLElement | null> | undefined
  /** The key of the item to scroll to and to mark. */
  readonly targetKey?: string | undefined
  /** Called with true when the user scrolls away from the end, and with false at the end. */
  onAway?: ((isAway: boolean) => void) | undefined
}

/** A list of any length that renders only the items in view. Heights are measured. */
export function VirtualList<Item>(props: VirtualListProps<Item>): JSX.Element {
  const { items, label, keyOf, render, onStart, targetKey } = props
  const own = useRef<HTMLElement>(null)
  const scroller = props.scroller ?? own
  const written = useRef(0)
  const virtualizer = useVirtualizer(props, scroller, written)
  const rows = virtualizer.getVirtualItems()
  const size = virtualizer.getTotalSize()
  const { handlers, leaveEnd } = useFollowing({ ...props, scroller, size, written })
  useEffect(() => {
    const at = targetKey === undefined ? -1 : items.findIndex((item) => keyOf(item) === targetKey)
    if (at < 0) return
    leaveEnd()
    virtualizer.scrollToIndex(at, { align: 'center' })
  }, [targetKey])
  const isAtStart = rows[0]?.index === 0
  useEffect(() => {
    if (isAtStart) onStart?.()
  }, [isAtStart, items.length])
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the list is scrolled with the keyboard
    <section class="virtual-list" ref={scroller} tabIndex={0} aria-label={label} {...handlers}>
      <div class="virtual-space" style={{ height: `${size}px` }}>
        <ul class="virtual-rows" style={{ transform: `translateY(${rows[0]?.start ?? 0}px)` }}>
          {rows.map(({ index, key }) => {
            const item = items[index]
            return (
              item !== undefined && (
                <li
                  key={key}
                  data-index={index}
                  ref={virtualizer.measureElement}
                  data-key={keyOf(item)}
                  aria-current={targetKey !== undefined && key === targetKey ? 'true' : undefined}
                >
                  {render(item)}
                </li>
              )
            )
          })}
        </ul>
      </div>
    </section>
  )
}

function useVirtualizer<Item>(
  { items, estimate, keyOf, isFollowing = false }: VirtualListProps<Item>,
  scroller: RefObject<HTMLElement | null>,
  written: RefObject<number>,
): Virtualizer<HTMLElement, HTMLLIElement> {
  const [, render] = useReducer<number, void>((count) => count + 1, 0)
  // with another function, all rows would be placed again, also when the user only scrolls
  const getItemKey = useCallback(
    (index: number): string | number => {
      const item = items[index]
      return item === undefined ? index : keyOf(item)
    },
    [items],
  )
  const options = {
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimate,
    getItemKey,
    overscan: 6,
    anchorTo: isFollowing ? ('end' as const) : ('start' as const),
    scrollToFn: (...scroll: Parameters<typeof elementScroll<HTMLElement>>) => {
      elementScroll(...scroll)
      written.current = scroller.current?.scrollTop ?? 0
    },
    observeElementRect,
    observeElementOffset,
    onChange: () => render(),
  }
  const [virtualizer] = useState(() => {
    const created = new Virtualizer<HTMLElement, HTMLLIElement>(options)
    // a row that grows below the top edge, such as a long reply that is streaming, does not move what the user reads
    created.shouldAdjustScrollPositionOnItemSizeChange = ({ end }, _, { scrollOffset }) => end <= (scrollOffset ?? 0)
    return created
  })
  virtualizer.setOptions(options)
  useLayoutEffect(() => virtualizer._didMount(), [])
  useLayoutEffect(() => virtualizer._willUpdate())
  return virtualizer
}
