import type { Agent } from '../../../engine/agent/agents/agent.ts'
import { LlmAgent } from '../../../engine/agent/agents/llm-agent.ts'
import { isToolset, type Toolset } from '../../../engine/tool/toolset.ts'
import { innermostToolset } from '../../../engine/tool/wrap-toolset.ts'
import { collectAgents } from '../load/collect-agents.ts'
import { isMcpToolset } from '../mcp/mcp-toolsets-of.ts'
import { checkMcpServer } from './check-mcp-server.ts'
import { type Finding, findingsOf, problemOnce } from './finding.ts'
import { type ListedToolset, ToolsetLister } from './list-toolset.ts'
import type { PinsOfApp } from './pins-of-app.ts'

/** Lists the tools of each toolset that an agent or an agent below it uses, with its filters: MCP servers, OpenAPI documents and others. */
export async function checkToolsets(root: Agent, app: PinsOfApp): Promise<Finding[]> {
  const lister = new ToolsetLister(app)
  const servers = new Set<Toolset>()
  const findings: Finding[] = []
  try {
    for (const toolset of toolsetsOf(root)) {
      const inner = innermostToolset(toolset)
      if (!isMcpToolset(inner)) {
        findings.push(...describeListing(toolset, await lister.list(toolset)))
        continue
      }
      const isNew = !servers.has(inner)
      servers.add(inner)
      const { state, found } = await checkMcpServer(inner, app)
      if (isNew) findings.push(...found)
      if (state === 'answers') {
        const listed = describeListing(toolset, await lister.list(toolset), 'mcp')
        // `found` has the advice about these tools
        findings.push(...listed.filter(({ message }) => !message.includes('" is quarantined: ')))
      }
    }
    return findings
  } finally {
    await lister.close()
  }
}

/** The toolsets of an agent and the agents below it, each once. */
function toolsetsOf(root: Agent): Toolset[] {
  const sources = collectAgents(root).flatMap((agent) => (agent instanceof LlmAgent ? agent.dynamicTools : []))
  return [...new Set(sources.filter(isToolset))]
}

function describeListing(toolset: Toolset, listed: ListedToolset, check = 'tools'): Finding[] {
  const { ok, warning } = findingsOf(check)
  const what = `${check === 'mcp' ? 'Server' : 'Toolset'} "${toolset.name}"`
  if (listed.type === 'failed')
    return [problemOnce(check, `${what}: ${listed.reason}`, 'Correct the options of the toolset.')]
  if (listed.type === 'needs-credential')
    return [warning(`${what} needs the sign-in of a user.`, 'The first user who needs it is asked.')]
  const { tools, warnings } = listed
  const problems = warnings.map((message): Finding => ({ check, status: 'warning', message }))
  if (tools === 0) return [...problems, warning(`${what} gives the agent no tools.`, 'Check its filters.')]
  return [ok(`${what} gives the agent ${tools} ${tools === 1 ? 'tool' : 'tools'}`), ...problems]
}
