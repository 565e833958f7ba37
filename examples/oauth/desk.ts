// An agent that reads mail. Its tool needs the consent of the user, which this command asks for in the terminal:
//   npx toolwright run examples/oauth/desk.ts "List my mail."
import { type AuthConfig, LlmAgent, tool } from 'toolwright'
import { applyCredential } from 'toolwright/auth'
import { model } from '../model.ts'
import { client, origin, redirectUri } from './provider.ts'

const authScheme = {
  type: 'openIdConnect',
  openIdConnectUrl: `${origin}/.well-known/openid-configuration`,
  scopes: ['openid', 'mail'],
} as const

const authConfig: AuthConfig = {
  authScheme,
  rawAuthCredential: { authType: 'openIdConnect', oauth2: { ...client, redirectUri } },
}

const listMail = tool({
  name: 'list_mail',
  description: 'List the mail of the user',
  authConfig,
  run: async (_args, { authCredential, signal }) => {
    if (!authCredential) throw new Error('The tool runs only with a credential.')
    const request = new Request(`${origin}/mail`, { signal })
    const response = await fetch(applyCredential(request, { authScheme, credential: authCredential, origin }))
    if (!response.ok) throw new Error(`The mail server answered with status ${response.status}.`)
    return { mail: await response.json() }
  },
})

const agent: LlmAgent = new LlmAgent({ name: 'desk', model, instruction: 'Help with the mail.', tools: [listMail] })
export default agent
