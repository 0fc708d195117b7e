import { describeEndpointFailure, type EndpointFailure } from '../../../../contracts/dashboard/endpoint-failure.ts'
import { translateServerText } from '../../language/server-text.ts'
import { describeSince } from './statistics.ts'

/** Why an endpoint fails, in one sentence. */
export function describeFailure(failure: EndpointFailure): string {
  return translateServerText(describeEndpointFailure(failure, describeSince))
}
