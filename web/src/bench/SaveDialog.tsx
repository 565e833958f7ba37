import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { JsonObject } from '../../../src/core/base/json.ts'
import type { BenchCall } from '../api/dev.ts'
import { appsOf, server } from '../state/server.ts'
import { Button } from '../ui/Button.tsx'
import { CodeBlock } from '../ui/CodeBlock.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { download } from '../ui/download.ts'
import type { SavedDecision } from './saved-decisions.ts'
import { type SavedCall, testFileName, writeTest } from './write-test.ts'

/** Props of the dialog. */
export interface SaveDialogProps {
  /** The call. */
  readonly call: BenchCall
  /** Its response. */
  readonly response: JsonObject
  /** What a person decided about it. */
  readonly decisions: readonly SavedDecision[]
  /** Called when the user closes the dialog. */
  onClose(): void
}

/** Shows a call as a test file, to copy or to download. */
export function SaveDialog({ call, response, decisions, onClose }: SaveDialogProps): JSX.Element {
  const [file, setFile] = useState(
    () => appsOf(server.value).find(({ name }) => name === call.app)?.file ?? './agent.ts',
  )
  const [runner, setRunner] = useState<SavedCall['runner']>('node:test')
  const code = writeTest({ ...call, response, decisions, file, runner })
  const name = testFileName(call.tool, file)
  return (
    <Dialog title="Save the call as a test" size="wide" onClose={onClose}>
      <label class="field">
        File that exports the agent
        <input value={file} onInput={(event) => setFile(event.currentTarget.value)} />
      </label>
      <label class="field">
        Test runner
        <select value={runner} onChange={(event) => setRunner(event.currentTarget.value as SavedCall['runner'])}>
          <option value="node:test">node:test</option>
          <option value="vitest">vitest</option>
        </select>
      </label>
      <div class="bench-actions">
        <Button kind="primary" onClick={() => download(new TextEncoder().encode(code), name)}>
          Download
        </Button>
      </div>
      <CodeBlock code={code} language={name} />
    </Dialog>
  )
}
