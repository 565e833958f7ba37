import type { HTMLAttributes, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

/** Nearer than this to the end, the user is at the end. */
const END_PIXELS = 40

/** Keys that scroll up. */
const UP_KEYS: ReadonlySet<string> = new Set(['ArrowUp', 'PageUp', 'Home'])

/** After a move up, the list may still report positions from before. */
const SETTLE_MS = 300

/** Options of `useFollowing`. */
export interface FollowingOptions {
  /** The element that scrolls. */
  readonly scroller: RefObject<HTMLElement | null>
  /** The height of all rows. */
  readonly size: number
  /** The last position that the page itself has set. Another position is one of the user. */
  readonly written: RefObject<number>
  /** Stays at the end when the list grows. */
  readonly isFollowing?: boolean | undefined
  /** Called with true when the user leaves the end, and with false at the end. */
  onAway?: ((isAway: boolean) => void) | undefined
}

/** Handlers and actions of a list that stays at its end. */
export interface Following {
  /** The handlers of the element that scrolls. */
  readonly handlers: Pick<
    HTMLAttributes<HTMLElement>,
    'onScroll' | 'onWheel' | 'onKeyDown' | 'onPointerDown' | 'onTouchMove'
  >
  /** Stops following, as if the user had scrolled up. */
  leaveEnd(): void
}

/**
 * Stays at the end while a list grows, until the user scrolls up. A list that grows quickly overwrites the position before its
 * scroll event arrives, so that the wheel, keys, touches and the scroll bar are watched, too.
 */
export function useFollowing(options: FollowingOptions): Following {
  const { scroller, size, written, isFollowing = false, onAway } = options
  const isAway = useRef(false)
  const movedUpAt = useRef(Number.NEGATIVE_INFINITY)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  useLayoutEffect(() => {
    const element = scroller.current
    if (!isFollowing || isAway.current || !element) return
    element.scrollTop = element.scrollHeight
    written.current = element.scrollTop
  }, [size, isFollowing])
  const setAway = (next: boolean): void => {
    if (!isFollowing || next === isAway.current) return
    isAway.current = next
    onAway?.(next)
  }
  const isAtEnd = (): boolean => {
    const element = scroller.current
    return element !== null && element.scrollHeight - element.scrollTop - element.clientHeight < END_PIXELS
  }
  const checkEnd = (): void => {
    if (isAtEnd()) setAway(false)
  }
  const leaveEnd = (timeStamp: number = performance.now()): void => {
    movedUpAt.current = timeStamp
    setAway(true)
  }
  return {
    leaveEnd: () => leaveEnd(),
    handlers: {
      onScroll: ({ currentTarget: { scrollTop }, timeStamp }) => {
        clearTimeout(timer.current)
        // a search in the page, or an assistive technology
        if (Math.abs(scrollTop - written.current) > 1 && !isAtEnd()) leaveEnd(timeStamp)
        else if (timeStamp - movedUpAt.current > SETTLE_MS) checkEnd()
        else timer.current = setTimeout(checkEnd, SETTLE_MS)
      },
      onWheel: ({ deltaY, timeStamp }) => {
        if (deltaY < 0) leaveEnd(timeStamp)
      },
      onKeyDown: ({ key, timeStamp }) => {
        if (UP_KEYS.has(key)) leaveEnd(timeStamp)
      },
      onTouchMove: ({ timeStamp }) => leaveEnd(timeStamp),
      onPointerDown: ({ target, currentTarget, timeStamp }) => {
        if (target === currentTarget) leaveEnd(timeStamp) // the scroll bar
      },
    },
  }
}
