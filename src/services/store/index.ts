/**
 * What authors of stores need: the items of a log, leases, the inbox and what an append changes.
 *
 * @module
 */

export type {
  AttemptRecord,
  BackgroundCall,
  BackgroundRecord,
  Denial,
  Entry,
  Intent,
  Interruption,
  LogRecord,
  NewEntry,
  PhaseRecord,
  RequestRecord,
} from '../../core/event/event.ts'
export type { SealedCredential, SealedCredentialStore } from '../credential/sealed-store.ts'
export {
  checkFilter as checkSessionFilter,
  checkKey as checkSessionKey,
  checkNewKey as checkNewSessionKey,
} from '../session/check-key.ts'
export { checkPin } from '../session/check-pin.ts'
export { importedEvents } from '../session/imported-events.ts'
export { checkInboxItem } from '../session/inbox-limits.ts'
export type {
  AppendOptions,
  Checkpoint,
  ClaimOptions,
  FoundSession,
  HeldLog,
  IdleConditions,
  InboxItem,
  Lease,
  LogPage,
  PendingChanges,
  PendingSummary,
  PinService,
  PostedItem,
  PrunableSession,
  PruneFilter,
  ReleaseOptions,
  SessionCounts,
  SessionFilter,
  SetAsideSession,
  StateReader,
  StateSize,
  UserUsage,
} from '../session/service.ts'
export { checkPendingRequest, toStorableEntry } from '../session/storable-entry.ts'
export { type PostOptions, tooManyWaiting } from '../session/waiting-limits.ts'
