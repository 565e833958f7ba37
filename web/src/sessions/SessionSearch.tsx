import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { SessionFilter } from '../api/types.ts'
import { mayActAsAnyUser } from '../state/server.ts'
import { Button } from '../ui/Button.tsx'

/** Props of the search. */
export interface SessionSearchProps {
  /** What is searched for. */
  readonly filter: SessionFilter
  /** Called with what the user searches for. */
  onChange(filter: SessionFilter): void
}

/** A pause in typing. */
const PAUSE_MS = 250
const STATES = ['running', 'waiting', 'failed', 'cancelled', 'completed', 'new'] as const

/** Narrows the list of sessions: by text, and by tool, state and date in a part that can be closed. */
export function SessionSearch({ filter, onChange }: SessionSearchProps): JSX.Element {
  const [typed, setTyped] = useState(filter)
  const [isOpen, setOpen] = useState(false)
  const set = (change: Partial<SessionFilter>): void => setTyped({ ...typed, ...change })
  useEffect(() => {
    if (typed === filter) return
    const timer = setTimeout(() => onChange(typed), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [typed])
  return (
    <search class="session-search">
      <div class="search-line">
        <input
          type="search"
          aria-label="Search sessions"
          placeholder="Search sessions"
          value={typed.text}
          onInput={({ currentTarget }) => set({ text: currentTarget.value })}
        />
        <Button icon="filter" kind="plain" label="Filters" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)} />
      </div>
      {isOpen && (
        <>
          <label>
            <span>Tool</span>
            <input value={typed.tool} onInput={({ currentTarget }) => set({ tool: currentTarget.value })} />
          </label>
          <label>
            <span>State</span>
            <select
              value={typed.state}
              onChange={({ currentTarget }) => set({ state: currentTarget.value as SessionFilter['state'] })}
            >
              <option value="">any</option>
              {STATES.map((state) => (
                <option key={state}>{state}</option>
              ))}
            </select>
          </label>
          {(['since', 'until'] as const).map((name) => (
            <label key={name}>
              <span>{name === 'since' ? 'From' : 'To'}</span>
              <input
                type="date"
                value={typed[name]}
                onInput={({ currentTarget }) => set({ [name]: currentTarget.value })}
              />
            </label>
          ))}
          {mayActAsAnyUser() && (
            <label class="check">
              <input type="checkbox" checked={typed.allUsers} onChange={() => set({ allUsers: !typed.allUsers })} />
              All users
            </label>
          )}
        </>
      )}
    </search>
  )
}
