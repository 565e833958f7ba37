import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { textOf } from '../../../src/core/content/content.ts'
import type { MemoryEntry } from '../../../src/services/memory/service.ts'
import { describeError } from '../api/api-error.ts'
import { addToMemory, searchMemory } from '../api/dev.ts'
import type { SessionTabProps } from '../session/session-tab.ts'
import { notifyError } from '../state/notices.ts'
import { Button } from '../ui/Button.tsx'
import { Time } from '../ui/Time.tsx'
import { Tree } from '../ui/Tree.tsx'
import { VisibleText } from '../ui/VisibleText.tsx'
import { visibleLine } from '../ui/visible-text.ts'

/** Searches the memory of the user, as the tools of the agents do. */
export function MemoryPanel({ log }: SessionTabProps): JSX.Element {
  const { app, userId } = log.key
  const [query, setQuery] = useState('')
  const [found, setFound] = useState<readonly MemoryEntry[] | string>()
  const search = async (event: Event): Promise<void> => {
    event.preventDefault()
    setFound(await searchMemory(app, userId, query).catch(describeError))
  }
  const [isAdded, setAdded] = useState(false)
  const add = (): void => void addToMemory(log.key).then(() => setAdded(true), notifyError)
  return (
    <div class="memory">
      <form class="inspect-bar" onSubmit={(event) => void search(event)}>
        <label class="field grow">
          <span class="visually-hidden">Search the memory of {visibleLine(userId)}</span>
          <input
            type="search"
            placeholder={`Search the memory of ${visibleLine(userId)}`}
            value={query}
            onInput={(event) => setQuery(event.currentTarget.value)}
          />
        </label>
        <Button kind="primary" type="submit" disabled={query.trim() === ''}>
          Search
        </Button>
        <Button onClick={add}>Add this session</Button>
      </form>
      <div role="status">
        {isAdded && <p class="muted">The session is in the memory of the user.</p>}
        {typeof found === 'string' && <p class="field-issue">{found}</p>}
        {Array.isArray(found) && <p class="muted">{found.length === 0 ? 'Nothing found.' : `${found.length} found`}</p>}
      </div>
      {Array.isArray(found) && (
        <ul class="memories">
          {found.map((memory: MemoryEntry, at) => (
            <Memory key={at} memory={memory} />
          ))}
        </ul>
      )}
    </div>
  )
}

function Memory({ memory: { content, author, timestamp } }: { readonly memory: MemoryEntry }): JSX.Element {
  const text = textOf(content)
  return (
    <li class="memory-item">
      <p class="muted">
        {visibleLine(author ?? 'unknown author')} {timestamp !== undefined && <Time seconds={timestamp} />}
      </p>
      {text === '' ? <Tree label="Memory" value={content} /> : <VisibleText text={text} />}
    </li>
  )
}
