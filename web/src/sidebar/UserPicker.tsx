import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { listUsers } from '../api/sessions.ts'
import { userId } from '../state/preferences.ts'
import { changeUser } from '../state/route.ts'
import { mayActAsAnyUser } from '../state/server.ts'
import { useSignal } from '../state/signal.ts'
import { visibleLine } from '../ui/visible-text.ts'

const OTHER = '\u0000other'

/** The user that the page acts as: chosen from those of the app, or another one. Who may act as one user only sees its name. */
export function UserPicker({ app }: { readonly app: string }): JSX.Element {
  const user = useSignal(userId)
  const [users, setUsers] = useState<readonly string[]>([])
  const [isTyping, setTyping] = useState(false)
  const read = (): void => void listUsers(app).then(setUsers, () => {}) // the user of now can still be changed
  useEffect(read, [app])
  if (!mayActAsAnyUser())
    return (
      <p class="user-field">
        <span>User</span>
        {visibleLine(user)}
      </p>
    )
  const choose = (name: string): void => {
    setTyping(name === OTHER)
    if (name !== OTHER) changeUser(name.trim() || 'user')
  }
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: one of the two fields is in it
    <label class="user-field">
      <span>User</span>
      {isTyping ? (
        <input
          ref={(field) => field?.focus()}
          defaultValue={user}
          maxLength={200}
          onBlur={() => setTyping(false)}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        />
      ) : (
        <select value={user} onFocus={read} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {[...new Set([user, ...users])].map((name) => (
            <option key={name} value={name}>
              {visibleLine(name)}
            </option>
          ))}
          <option value={OTHER}>Another user…</option>
        </select>
      )}
    </label>
  )
}
