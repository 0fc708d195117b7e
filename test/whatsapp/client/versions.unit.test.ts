import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { createTemplate } from '../../../contracts/api/template-changes.ts'
import { createCloudApi } from '../../../src/whatsapp/client/cloud-api.ts'
import { newestVersion } from '../../../src/whatsapp/graph-versions.ts'
import { startSimulator } from '../../../src/whatsapp/simulator/simulator.ts'
import type { WhatsApp } from '../../../src/whatsapp/whatsapp.ts'
import { forFile } from '../../support/lifetime.ts'

/** Each request of the client, with each version of the Graph API that Waybill is used with. */

const app = { appId: '300000000000005', appSecret: 'the-secret-of-the-app' }
const simulator = await forFile(startSimulator())
simulator.addApp({ id: app.appId, name: 'Ours', secret: app.appSecret })

const file = { open: () => Readable.from(['x']), sizeBytes: 1, mimeType: 'image/png', name: 'a.png' }

const calls = {
  sendTemplate: (whatsapp) =>
    whatsapp.sendTemplate(simulator, {
      to: '34600111222',
      name: 'a',
      language: 'en',
      parameters: [],
      callbackData: 'm',
    }),
  uploadMedia: (whatsapp) =>
    whatsapp.uploadMedia(simulator, { type: 'image/png', size: 1, filename: 'a.png', body: Readable.from(['x']) }),
  deleteMedia: (whatsapp) => whatsapp.deleteMedia(simulator, '1'),
  deleteContact: (whatsapp) => whatsapp.deleteContact(simulator, 'ES.1'),
  listTemplates: (whatsapp) => whatsapp.listTemplates(simulator),
  getPhoneNumber: (whatsapp) => whatsapp.getPhoneNumber(simulator),
  hasPhoneNumber: (whatsapp) => whatsapp.hasPhoneNumber(simulator),
  createTemplate: (whatsapp) =>
    whatsapp.createTemplate(simulator, createTemplate.example.input, { withOptimizations: false }),
  editTemplate: (whatsapp) =>
    whatsapp.editTemplate({ ...simulator, templateId: '1' }, createTemplate.example.input, { withCategory: true }),
  deleteTemplate: (whatsapp) => whatsapp.deleteTemplate({ ...simulator, name: 'a' }),
  getTemplate: (whatsapp) => whatsapp.getTemplate({ ...simulator, templateId: '1' }),
  uploadSample: (whatsapp) => whatsapp.uploadSample({ ...simulator, ...app, file }),
  inspectToken: (whatsapp) => whatsapp.inspectToken({ ...simulator, app }),
  refreshToken: (whatsapp) => whatsapp.refreshToken({ ...simulator, app }),
  listBusinessAccounts: (whatsapp) => whatsapp.listBusinessAccounts(simulator),
  listPhoneNumbers: (whatsapp) => whatsapp.listPhoneNumbers(simulator),
  getNumberDetails: (whatsapp) => whatsapp.getNumberDetails(simulator),
  isOnBusinessApp: (whatsapp) => whatsapp.isOnBusinessApp(simulator),
  getMarketingAccess: (whatsapp) => whatsapp.getMarketingAccess(simulator),
  registerNumber: (whatsapp) => whatsapp.registerNumber({ ...simulator, pin: '123456' }),
  listSubscribedApps: (whatsapp) => whatsapp.listSubscribedApps(simulator),
  subscribeApp: (whatsapp) => whatsapp.subscribeApp(simulator),
  getAppSubscription: (whatsapp) => whatsapp.getAppSubscription(app),
  subscribeCallback: (whatsapp) => whatsapp.subscribeCallback(app, { url: 'http://127.0.0.1:1/', verifyToken: 'v' }),
} satisfies Record<keyof Omit<WhatsApp, 'close'>, (whatsapp: WhatsApp) => Promise<unknown>>

/** Removed from all versions on 2026-10-27 (autumn reference, section 7). */
const removed = new Set(['pretty', 'debug', 'date_format', 'ids', 'if-none-match'])

test.each(['v25.0', newestVersion])(
  'sends every request with %s, and uses nothing that Meta has removed',
  async (version) => {
    const whatsapp = createCloudApi({ url: simulator.url, version })
    for (const [name, call] of Object.entries(calls)) {
      simulator.requests.length = 0
      await call(whatsapp)

      const used = simulator.requests.map(({ version, query, headers }) => ({
        version,
        removed: [...query.keys(), ...Object.keys(headers)].filter((key) => removed.has(key)),
      }))
      expect({ name, used: used.length > 0 ? used : 'nothing' }).toEqual({
        name,
        used: used.map(() => ({ version, removed: [] })),
      })
    }
    await whatsapp.close()
  },
)
