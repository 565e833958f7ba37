import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { type SavedTest, writeTest } from '../api/dev.ts'
import type { SessionKey } from '../api/types.ts'
import { notifyError } from '../state/notices.ts'
import { appsOf, server } from '../state/server.ts'
import { Button } from '../ui/Button.tsx'
import { CodeBlock } from '../ui/CodeBlock.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { download } from '../ui/download.ts'

/** Props of the dialog. */
export interface SaveDialogProps {
  /** The session of the call. */
  readonly session: SessionKey
  /** The id of the call. */
  readonly callId: string
  /** Called when the user closes the dialog. */
  onClose(): void
}

/** Shows a call as a test file, to copy or to download. */
export function SaveDialog({ session, callId, onClose }: SaveDialogProps): JSX.Element {
  const [file, setFile] = useState(
    () => appsOf(server.value).find(({ name }) => name === session.app)?.file ?? './agent.ts',
  )
  const [runner, setRunner] = useState('node:test')
  const [test, setTest] = useState<SavedTest>()
  useEffect(() => {
    const controller = new AbortController()
    setTest(undefined)
    writeTest(session, callId, { file, runner }, controller.signal).then(setTest, (error: unknown) => {
      if (!controller.signal.aborted) notifyError(error)
    })
    return () => controller.abort()
  }, [file, runner])
  return (
    <Dialog title="Save the call as a test" size="wide" onClose={onClose}>
      <label class="field">
        File that exports the agent
        <input value={file} onInput={(event) => setFile(event.currentTarget.value)} />
      </label>
      <label class="field">
        Test runner
        <select value={runner} onChange={(event) => setRunner(event.currentTarget.value)}>
          <option value="node:test">node:test</option>
          <option value="vitest">vitest</option>
        </select>
      </label>
      <div class="bench-actions">
        <Button
          kind="primary"
          disabled={!test}
          onClick={() => test && download(new TextEncoder().encode(test.code), test.name)}
        >
          Download
        </Button>
      </div>
      {test && <CodeBlock code={test.code} language={test.name} />}
    </Dialog>
  )
}
