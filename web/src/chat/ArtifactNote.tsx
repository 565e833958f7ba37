import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { Part } from '../../../src/core/content/content.ts'
import { getArtifact } from '../api/artifacts.ts'
import type { SessionKey } from '../api/types.ts'
import { notifyError } from '../state/notices.ts'
import { Button } from '../ui/Button.tsx'
import { FilePreview } from '../ui/FilePreview.tsx'
import { Icon } from '../ui/Icon.tsx'
import { visibleLine, visibleText } from '../ui/visible-text.ts'

/** Props of a saved artifact. */
export interface ArtifactNoteProps {
  /** The session. */
  readonly sessionKey: SessionKey
  /** The name of the artifact. */
  readonly filename: string
  /** The version that was saved. */
  readonly version: number
}

/** An artifact that was saved. It is read when the user opens it. */
export function ArtifactNote({ sessionKey, filename, version }: ArtifactNoteProps): JSX.Element {
  const [part, setPart] = useState<Part>()
  const load = (): void => void getArtifact(sessionKey, { filename, version }).then(setPart, notifyError)
  if (part?.inlineData) return <FilePreview media={part.inlineData} name={filename} />
  return (
    <div class="note">
      <Icon name="file" /> Saved {visibleLine(filename)}, version {version}
      {part ? (
        <pre class="file-text">{visibleText(part.text ?? '')}</pre>
      ) : (
        <Button kind="plain" onClick={load}>
          Open
        </Button>
      )}
    </div>
  )
}
