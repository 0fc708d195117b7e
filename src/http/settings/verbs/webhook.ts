import type { SettingsContracts } from '../../../../contracts/settings/index.ts'
import { addEndpoint } from '../../../webhook/add-endpoint.ts'
import { disableEndpoint } from '../../../webhook/disable-endpoint.ts'
import { enableEndpoint } from '../../../webhook/enable-endpoint.ts'
import { listDeliveries } from '../../../webhook/list-deliveries.ts'
import { listEndpoints } from '../../../webhook/list-endpoints.ts'
import { recoverStepwise } from '../../../webhook/recover-stepwise.ts'
import { removeEndpoint } from '../../../webhook/remove-endpoint.ts'
import { requireDelivery, retryDelivery } from '../../../webhook/retry-delivery.ts'
import { revealSecret } from '../../../webhook/reveal-secret.ts'
import { rotateSecret } from '../../../webhook/rotate-secret.ts'
import { testEndpoint } from '../../../webhook/test-endpoint.ts'
import type { VerbsOf } from './verb.ts'

export const webhookVerbs: VerbsOf<SettingsContracts['settings']['webhook']> = {
  list: async (deps, _call, { accountId }) => ({ items: await listEndpoints(deps, accountId) }),
  add: (deps, _call, { accountId, ...input }) => addEndpoint(deps, accountId, input),
  enable: (deps, _call, { accountId, endpointId }) => enableEndpoint(deps, accountId, endpointId),
  disable: (deps, _call, { accountId, endpointId }) =>
    disableEndpoint(deps, accountId, endpointId, { by: 'its owner' }),
  remove: (deps, _call, { accountId, endpointId }) => removeEndpoint(deps, accountId, endpointId),
  revealSecret: (deps, _call, { accountId, endpointId }) => revealSecret(deps, accountId, endpointId),
  rotateSecret: (deps, _call, { accountId, endpointId, overlapSeconds }) =>
    rotateSecret(deps, accountId, endpointId, { overlapSeconds }),
  test: (deps, _call, { accountId, endpointId }) => testEndpoint(deps, accountId, endpointId),
  deliveries: (deps, _call, { accountId, endpointId, ...filter }) =>
    listDeliveries(deps, accountId, endpointId, filter),
  retry: async (deps, _call, { accountId, deliveryId }) =>
    retryDelivery(deps, await requireDelivery(deps.db, accountId, deliveryId), deliveryId),
  recover: (deps, _call, input) => recoverStepwise(deps, input),
}
