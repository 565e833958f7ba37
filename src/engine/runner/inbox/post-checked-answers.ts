import type { SessionKey } from '../../../services/session/service.ts'
import type { AgentTree } from '../../agent/agents/agent-tree.ts'
import { acceptAnswers } from '../approvals/accept.ts'
import type { RunServices } from '../run-services.ts'
import { StoredView } from '../sessions/stored-view.ts'
import { itemOf, type PostedAnswers } from './post-answers.ts'

/** What answers are checked with. */
interface Checking {
  /** The agents of the runner. */
  readonly tree: AgentTree
  /** The services of the runner. */
  readonly services: Pick<RunServices, 'sessionService' | 'ports'>
}

/**
 * Checks answers against the stored log, then posts them to the inbox of a session that another process holds. Its run checks them
 * again when it records them. Answers that the log has already are not posted.
 */
export async function postCheckedAnswers(
  key: SessionKey,
  answers: PostedAnswers,
  { tree, services }: Checking,
): Promise<void> {
  const { sessionService, ports } = services
  // without records, no request can be found: the holder alone can check
  if (sessionService.readLog) {
    const log = await StoredView.open(key, { services, tree })
    const accepted = await acceptAnswers(log, answers.message, { now: ports.now(), asOf: log.view.seq })
    if (accepted.type === 'replay') return
  }
  await sessionService.post(key, itemOf(answers, ports))
}
