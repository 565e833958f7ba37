import type { Hono } from 'hono'
import { ToolwrightError } from '../../../../core/error/error.ts'
import type { RequestContext, ServerEnv, ServerParts } from '../../env.ts'
import { type AgentNode, agentTree, findNode } from '../../graph/agent-tree.ts'
import { type DotOptions, toDot } from '../../graph/dot.ts'
import { highlightsOf } from '../../graph/highlights.ts'
import { appOf, findSession, SESSION, sessionScope } from '../scope.ts'

/** Routes that show the agents of an app as a tree and as pictures. */
export function graphRoutes(app: Hono<ServerEnv>, parts: ServerParts): void {
  const treeOf = (context: RequestContext): AgentNode => agentTree(appOf(context, parts).runner.agent)

  app.get('/dev/apps/:app/build_graph', (context) =>
    context.json({ name: appOf(context, parts).name, root_agent: treeOf(context) }),
  )

  app.get('/dev/apps/:app/build_graph_image', (context) => {
    const root = treeOf(context)
    const style = styleOf(context)
    const path = context.req.query('node') ?? ''
    const node = findNode(root, path)
    if (!node)
      throw new ToolwrightError('NOT_FOUND', `The app has no agent "${path}". GET build_graph lists the agents.`)
    return context.json({ ...graphsOf(root, style), dotSrc: toDot(node, style) })
  })

  app.get('/dev/apps/:app/graph', (context) => context.json({ dotSrc: toDot(treeOf(context), styleOf(context)) }))

  app.get(`/dev${SESSION}/events/:event/graph`, async (context) => {
    const session = await findSession(sessionScope(context, parts), parts)
    const event = session.events.find(({ id }) => id === context.req.param('event'))
    if (!event) return context.json({})
    const root = treeOf(context)
    return context.json({ dotSrc: toDot(root, { ...styleOf(context), highlights: highlightsOf(event, root) }) })
  })
}

/** The graphs of the root and of all agents with sub-agents, by path. The path of the root is empty. */
function graphsOf(root: AgentNode, style: DotOptions): { readonly [path: string]: object } {
  const graphs: [path: string, object][] = []
  const visit = (node: AgentNode, path: string): void => {
    if (node === root || node.sub_agents.length > 0) {
      graphs.push([node === root ? '' : path, { dotSrc: toDot(node, style) }])
    }
    for (const child of node.sub_agents) visit(child, `${path}/${child.name}`)
  }
  visit(root, root.name)
  return Object.fromEntries(graphs)
}

function styleOf(context: RequestContext): DotOptions {
  return { isDark: context.req.query('dark_mode') === 'true' }
}
