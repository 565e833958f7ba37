import type { Command } from './command/command.ts'
import { completionCommand } from './completion/completion-command.ts'
import { createCommand } from './create/create-command.ts'
import { doctorCommand } from './doctor/doctor-command.ts'
import { evalCommand } from './eval/eval-command.ts'
import { fleetCommand } from './fleet/fleet-command.ts'
import { inferCommand } from './infer/infer-command.ts'
import { mcpCommand } from './mcp/mcp-command.ts'
import { runCommand } from './run/run-command.ts'
import { serveCommand } from './serve/serve-command.ts'
import { webCommand } from './serve/web-command.ts'
import { statsCommand } from './stats/stats-command.ts'
import { storeCommand } from './store/store-command.ts'
import { toolCommand } from './tool/tool-command.ts'
import { workerCommand } from './worker/worker-command.ts'

const ownCommands: readonly Command[] = [
  createCommand,
  webCommand,
  runCommand,
  serveCommand,
  workerCommand,
  fleetCommand,
  toolCommand,
  mcpCommand,
  inferCommand,
  evalCommand,
  statsCommand,
  storeCommand,
  doctorCommand,
]

/** All commands. Their help and the shell completion are made from this list. */
export const commands: readonly Command[] = [...ownCommands, completionCommand(ownCommands)]
