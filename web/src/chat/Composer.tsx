import type { JSX } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { InlineData as Media, Part } from '../../../src/core/content/content.ts'
import { connection } from '../state/connection.ts'
import { notify, notifyError } from '../state/notices.ts'
import { useShortcuts } from '../state/shortcuts.ts'
import { useSignal } from '../state/signal.ts'
import { Button } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'
import { visibleLine } from '../ui/visible-text.ts'
import { draftOf, keepDraft, noteFocus, takesFocus } from './drafts.ts'
import { MOST_FILE_BYTES, readFile } from './read-file.ts'

/** Props of the message field. */
export interface ComposerProps {
  /** Names the field, so that it keeps what was typed while something else is shown. */
  readonly name: string
  /** Is a run under way? Then it can be stopped. */
  readonly isRunning: boolean
  /** Stops the run. */
  onStop(): void
  /** Sends a message. If it rejects, the message is back in the field. */
  onSend(parts: readonly Part[]): Promise<void>
}

/** The message field: text, and files that are chosen, dropped or pasted. */
export function Composer({ name, isRunning, onStop, onSend }: ComposerProps): JSX.Element {
  const [text, setText] = useState(() => draftOf(name).text)
  const [files, setFiles] = useState(() => draftOf(name).files)
  const isAway = useSignal(connection) === 'away'
  const [isOver, setOver] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const picker = useRef<HTMLInputElement>(null)
  useShortcuts([{ keys: '/', label: 'Write a message', run: () => field.current?.focus() }])
  const add = (list: FileList | null | undefined): void => void addFiles(list, setFiles)
  useLayoutEffect(() => keepDraft(name, { text, files }), [text, files])
  useLayoutEffect(() => {
    if (!takesFocus(name)) return
    field.current?.focus()
    field.current?.setSelectionRange(text.length, text.length)
  }, [])
  const type = (typed: string): void => {
    setText(typed)
    keepDraft(name, { text: typed, files }) // at once: the page of a new session may replace this field before it is drawn
  }
  const isEmpty = text.trim() === '' && files.length === 0
  const send = async (): Promise<void> => {
    if (isEmpty || isRunning || isAway) return
    const parts: Part[] = [...(text.trim() === '' ? [] : [{ text }]), ...files.map((inlineData) => ({ inlineData }))]
    setText('')
    setFiles([])
    keepDraft(name, { text: '', files: [] })
    try {
      await onSend(parts)
    } catch (error) {
      notifyError(error)
      setText((now) => now || text)
      setFiles((now) => (now.length > 0 ? now : files))
    }
  }
  return (
    <form
      class={isOver ? 'composer column over' : 'composer column'}
      onSubmit={(event) => {
        event.preventDefault()
        void send()
      }}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        add(event.dataTransfer?.files)
      }}
    >
      <Attached files={files} onRemove={(at) => setFiles(files.toSpliced(at, 1))} />
      <textarea
        ref={field}
        aria-label="Message"
        placeholder="Message. Drop or paste files."
        rows={1}
        value={text}
        onInput={(event) => type(event.currentTarget.value)}
        onFocus={() => noteFocus(name, true)}
        onBlur={() => noteFocus(name, false)}
        onPaste={(event) => add(event.clipboardData?.files)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          void send()
        }}
      />
      <input
        ref={picker}
        class="visually-hidden"
        type="file"
        multiple
        tabIndex={-1}
        aria-label="Files"
        onChange={(event) => {
          add(event.currentTarget.files)
          event.currentTarget.value = ''
        }}
      />
      <div class="composer-foot">
        <Button icon="clip" kind="plain" label="Attach files" onClick={() => picker.current?.click()} />
        {isRunning ? (
          <Button icon="stop" onClick={onStop}>
            Stop
          </Button>
        ) : (
          <Button kind="primary" icon="send" type="submit" disabled={isEmpty || isAway}>
            Send
          </Button>
        )}
      </div>
    </form>
  )
}

interface AttachedProps {
  readonly files: readonly Media[]
  onRemove(at: number): void
}

function Attached({ files, onRemove }: AttachedProps): JSX.Element | null {
  if (files.length === 0) return null
  return (
    <ul class="attached" aria-label="Attached files">
      {files.map(({ displayName = 'file' }, at) => (
        <li key={at}>
          <Icon name="file" /> <span>{visibleLine(displayName)}</span>
          <Button
            class="small"
            icon="close"
            kind="plain"
            label={`Remove ${visibleLine(displayName)}`}
            onClick={() => onRemove(at)}
          />
        </li>
      ))}
    </ul>
  )
}

type ChangeFiles = (change: (files: readonly Media[]) => readonly Media[]) => void

async function addFiles(list: FileList | null | undefined, change: ChangeFiles): Promise<void> {
  for (const file of list ?? []) {
    try {
      const media = await readFile(file)
      if (media) change((files) => [...files, media])
      else notify(`${file.name} is larger than ${MOST_FILE_BYTES / 1e6} MB.`, 'error')
    } catch (error) {
      notifyError(error)
    }
  }
}
