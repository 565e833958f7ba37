import { useEffect, useState } from 'preact/hooks'
import type { JsonObject } from '../../../src/core/base/json.ts'
import { describeError } from '../api/api-error.ts'
import { previewApproval } from '../api/pending.ts'
import type { AppRequest } from '../inbox/app-request.ts'

/** The question about edited arguments, as the server asks it. */
export type Preview =
  | { readonly state: 'none' | 'loading' }
  | { readonly state: 'ready'; readonly hint: string }
  | { readonly state: 'failed'; readonly problem: string }

/** Asks the server for the question about edited arguments. Without edited arguments there is none. */
export function usePreview({ app, request }: AppRequest, edited: JsonObject | undefined): Preview {
  const [known, setKnown] = useState<{ readonly for: JsonObject; readonly preview: Preview }>()
  useEffect(() => {
    if (!edited) return undefined
    const controller = new AbortController()
    const show = (preview: Preview): void => {
      if (!controller.signal.aborted) setKnown({ for: edited, preview })
    }
    previewApproval(app, request, edited, controller.signal).then(
      ({ hint }) => show({ state: 'ready', hint }),
      (error: unknown) => show({ state: 'failed', problem: describeError(error) }),
    )
    return () => controller.abort()
  }, [app, request.id, edited])
  if (!edited) return { state: 'none' }
  return known?.for === edited ? known.preview : { state: 'loading' } // never the question about earlier arguments
}
