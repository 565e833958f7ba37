import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { notifyError } from '../state/notices.ts'
import { Button } from './Button.tsx'
import type { IconName } from './Icon.tsx'

/** One action of a menu. */
export interface MenuItem {
  /** Its text. */
  readonly label: string
  /** Does it. */
  run(): unknown
}

/** Props of a menu. */
export interface MenuProps {
  /** Names the menu. */
  readonly label: string
  /** The icon of its button. Default: three dots. */
  readonly icon?: IconName
  /** The actions. Called when the menu opens. */
  items(): readonly MenuItem[]
}

/** A button that opens a list of actions. Arrow keys move in it, Escape closes it. */
export function Menu({ label, icon = 'more', items }: MenuProps): JSX.Element {
  const [place, setPlace] = useState<DOMRect>()
  const button = useRef<HTMLDivElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const close = (): void => setPlace(undefined)
  const open = (): void => setPlace(place ? undefined : button.current?.getBoundingClientRect())
  useEffect(() => {
    const element = list.current
    if (!place || !element) return
    element.showPopover() // above everything: lists clip what is in them
    const { offsetWidth, offsetHeight } = element
    element.style.left = `${Math.max(8, Math.min(place.right - offsetWidth, innerWidth - offsetWidth - 8))}px`
    element.style.top = `${place.bottom + offsetHeight > innerHeight ? Math.max(8, place.top - offsetHeight) : place.bottom}px`
    element.querySelector<HTMLElement>('button')?.focus()
    // not when the page scrolls by itself, as it does during a run
    for (const type of ['wheel', 'touchmove']) addEventListener(type, close)
    return () => ['wheel', 'touchmove'].forEach((type) => void removeEventListener(type, close))
  }, [place])
  const move = (event: KeyboardEvent): void => {
    const all = [...(list.current?.querySelectorAll('button') ?? [])]
    const at = all.indexOf(event.target as HTMLButtonElement)
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (to !== undefined) all.at(to % all.length)?.focus()
    else if (event.key === 'Escape' || event.key === 'Tab') {
      close()
      button.current?.querySelector('button')?.focus()
    } else return
    if (event.key !== 'Tab') event.preventDefault()
    event.stopPropagation()
  }
  return (
    <div
      class="menu"
      ref={button}
      onFocusOut={({ relatedTarget }) => {
        if (!button.current?.contains(relatedTarget as Node | null)) close()
      }}
    >
      <Button
        class="small"
        icon={icon}
        kind="plain"
        label={label}
        aria-haspopup="menu"
        aria-expanded={place !== undefined}
        onClick={open}
      />
      {place && (
        <div
          class="menu-list"
          role="menu"
          popover="manual"
          aria-label={label}
          tabIndex={-1}
          ref={list}
          onKeyDown={move}
        >
          {items().map(({ label: text, run }) => (
            <button
              key={text}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => {
                close()
                button.current?.querySelector('button')?.focus()
                void Promise.resolve(run()).catch(notifyError)
              }}
            >
              {text}
            </button>
          ))}
        </div>
      )}
    </div>
  )
}
