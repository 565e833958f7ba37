import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'

/** One tab. */
export interface Tab<Id extends string> {
  /** The id of the tab. */
  readonly id: Id
  /** Its text. */
  readonly label: string
}

/** Props of a row of tabs. */
export interface TabsProps<Id extends string> {
  /** Names the row for screen readers. */
  readonly label: string
  /** The tabs, in order. */
  readonly tabs: readonly Tab<Id>[]
  /** The chosen tab. */
  readonly value: Id
  /** The element that shows the chosen tab. */
  readonly panelId: string
  /** Called with the tab that the user chooses. */
  onChange(id: Id): void
}

/** A row of tabs. Arrow keys move between them. Render the panel with `role="tabpanel"` and the id `panelId`. */
export function Tabs<Id extends string>({ label, tabs, value, panelId, onChange }: TabsProps<Id>): JSX.Element {
  const row = useRef<HTMLDivElement>(null)
  const choose = (at: number): void => {
    const tab = tabs[(at + tabs.length) % tabs.length]
    if (!tab) return
    onChange(tab.id)
    row.current?.querySelector<HTMLElement>(`[data-tab="${CSS.escape(tab.id)}"]`)?.focus()
  }
  const move = (event: KeyboardEvent, at: number): void => {
    const to = new Map([
      ['ArrowRight', at + 1],
      ['ArrowLeft', at - 1],
      ['Home', 0],
      ['End', tabs.length - 1],
    ]).get(event.key)
    if (to === undefined) return
    event.preventDefault()
    choose(to)
  }
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={row}>
      {tabs.map(({ id, label: text }, at) => (
        <button
          key={id}
          type="button"
          role="tab"
          data-tab={id}
          aria-selected={id === value}
          aria-controls={panelId}
          tabIndex={id === value ? 0 : -1}
          onClick={() => onChange(id)}
          onKeyDown={(event) => move(event, at)}
        >
          {text}
        </button>
      ))}
    </div>
  )
}
