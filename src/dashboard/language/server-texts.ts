import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'

/**
 * What the server says in English, with its values in braces: advice on failures, findings, problems of templates, audit
 * log entries and errors. A text that is not here is shown as it came.
 */
export const serverTexts: readonly MessageDescriptor[] = [
  // From accounts/whatsapp/health/findings.ts.
  msg({ message: 'A user deactivated this WhatsApp account.' }),
  msg({ message: 'Activate it to send from it again.' }),
  msg({ message: 'WhatsApp rejected this account: {value}.' }),
  msg({ message: 'The access token has expired.' }),
  msg({ message: 'WhatsApp rejects the access token: {value}.' }),
  msg({
    message: 'The access token lacks a permission, or the account is not assigned to its system user: {value}.',
  }),
  msg({ message: 'The access token lacks the permission {value}.' }),
  msg({ message: 'WhatsApp has flagged the number for low quality.' }),
  msg({
    message: 'Send fewer messages that users block or report. If the quality stays low, WhatsApp lowers the limit.',
  }),
  msg({ message: 'The number has reached its messaging limit.' }),
  msg({ message: 'Wait until the 24-hour window has moved on, or raise the limit in WhatsApp Manager.' }),
  msg({ message: 'moved to another WhatsApp Business Account' }),
  msg({ message: 'The number is not registered with the Cloud API.' }),
  msg({ message: 'Check it in WhatsApp Manager, and connect it again.' }),
  msg({ message: 'The quality rating of the number is low (red).' }),
  msg({
    message:
      'Message only people who opted in, and make it easy to opt out. Check which templates were blocked in WhatsApp Manager.',
  }),
  // From accounts/whatsapp/health/marketing.ts.
  msg({
    message:
      'WhatsApp rejects every marketing template of this business account: the Cloud API is switched off for them, and the account is not onboarded to the Marketing Messages API ({value}).',
  }),
  msg({
    message:
      'This business account is not onboarded to the Marketing Messages API ({value}), so its marketing templates go through the Cloud API. WhatsApp is reported to reject them there from {date}; Meta has not confirmed the day.',
  }),
  msg({ message: 'Ask Meta Business Support how this account can be onboarded to the Marketing Messages API.' }),
  msg({
    message:
      'Let an admin of the business portfolio accept the terms: in the app dashboard of Meta under WhatsApp > Quickstart > Improve ROI with marketing messages, or in WhatsApp Manager under Alerts. Waybill then changes the endpoint by itself.',
  }),
  msg({ message: 'Add a valid payment method in WhatsApp Manager. WhatsApp then completes the onboarding.' }),
  msg({ message: 'Wait: WhatsApp is completing the onboarding.' }),
  msg({
    message: 'Open WhatsApp Manager, and solve what restricts this account. It can be onboarded afterwards.',
  }),
  msg({ message: 'WhatsApp has not approved the display name of the number ({value}).' }),
  msg({ message: 'Edit the display name in WhatsApp Manager, and register the number again once it is approved.' }),
  msg({ message: 'the phone number' }),
  msg({ message: 'the WhatsApp Business Account' }),
  msg({ message: 'the business portfolio' }),
  msg({ message: 'WhatsApp gave no reason' }),
  msg({ message: 'Open WhatsApp Manager, and follow what it says about this account.' }),
  msg({ message: 'WhatsApp blocks sending because of {name}: {why}.' }),
  msg({ message: 'WhatsApp limits sending because of {name}: {why}.' }),
  msg({ message: 'Open the setup of this WhatsApp account and select Subscribe.' }),
  msg({ message: 'Open the setup of this WhatsApp account and select Set callback URL.' }),
  msg({ message: 'The secret of the app is not known, so Waybill rejects every callback and no status arrives.' }),
  msg({
    message:
      'Copy the app secret from the app dashboard of Meta (App settings > Basic), and replace the secrets of this account, or set META_APP_SECRET.',
  }),
  msg({ message: 'There is a problem with the callback URL: {value}.' }),
  msg({ message: 'The app has no callback URL, so no status arrives.' }),
  msg({ message: 'WhatsApp sends the callbacks of the app to {callbackUrl}, and not to {expectedCallbackUrl}.' }),
  msg({ message: 'The app is not subscribed to the field messages, so no status arrives.' }),
  msg({ message: 'The app is not subscribed to all fields that Waybill reads: {value}.' }),
  msg({ message: '{failed} of {total} messages of the last hour failed, most often with code {value2}.' }),
  msg({ message: 'Open the failed messages in the dashboard: each one says what its code means and what to do.' }),
  msg({ message: 'WhatsApp accepted messages more than five minutes ago, and no status has arrived since.' }),
  msg({ message: 'Check the callback URL of the app and the subscription in the setup of this WhatsApp account.' }),
  msg({
    message:
      'WhatsApp reported statuses of messages that the database does not have: {statuses} statuses of messages sent from {from} to {until}.',
  }),
  msg({
    message:
      'If the database was restored or failed over, it lost these messages: they were sent, so do not send them again. Otherwise, another installation of Waybill sends from this number.',
  }),
  // From accounts/whatsapp/connect/advice.ts.
  msg({
    message:
      'In Meta Business Suite, open Settings > Users > System users, create a new token for your app with the permissions whatsapp_business_messaging and whatsapp_business_management, and use it in place of this one.',
  }),
  msg({
    message:
      'In Meta Business Suite, open Settings > Users > System users: assign the app and the WhatsApp account to the system user with full control, then create a token with the permissions whatsapp_business_messaging and whatsapp_business_management.',
  }),
  msg({ message: 'Wait a few minutes, then repeat this step. Retrying sooner extends the wait.' }),
  msg({ message: 'Open Business Support Home in Meta Business Suite, check the reason and request a review.' }),
  msg({ message: 'WhatsApp rejects this access token: it is wrong, revoked or expired.' }),
  msg({
    message:
      'WhatsApp does not let this access token do that: a permission is missing, or the account is not assigned to its system user.',
  }),
  msg({ message: 'This account or app has reached WhatsApp’s limit of API calls.' }),
  msg({ message: 'WhatsApp does not know this ID, or does not show it to this access token.' }),
  msg({
    message:
      'Check the ID in WhatsApp Manager, and that the WhatsApp account is assigned to the system user of the token.',
  }),
  msg({ message: 'WhatsApp has restricted this business account for a policy violation.' }),
  msg({ message: 'Meta called the callback URL and did not get the expected answer.' }),
  msg({
    message:
      'Check that the URL is reachable from the internet over https with a valid certificate, that the proxy in front of Waybill passes /webhooks/whatsapp on to it, and that META_VERIFY_TOKEN is the one with which Waybill was started. The operator of the server can check all three.',
  }),
  msg({ message: 'WhatsApp has locked this business account.' }),
  msg({ message: "The PIN does not match the number's two-step verification PIN." }),
  msg({
    message:
      'Enter the PIN that was set for this number. If nobody knows it, change it in WhatsApp Manager: Phone numbers > the number > Two-step verification.',
  }),
  msg({ message: 'WhatsApp wants the number to be verified again.' }),
  msg({
    message:
      'In WhatsApp Manager, open Phone numbers and verify the number with a code by SMS or call. Then repeat this step.',
  }),
  msg({ message: 'Too many wrong PINs were tried: WhatsApp has locked the registration of this number.' }),
  msg({
    message:
      'Wait for the time that WhatsApp names, or set a new PIN in WhatsApp Manager. Then repeat this step with the right PIN.',
  }),
  msg({ message: 'PINs were tried too fast.' }),
  msg({ message: 'The number was deleted a moment ago and cannot be registered yet.' }),
  msg({ message: 'The number was registered or deregistered too often: WhatsApp allows 10 attempts in 72 hours.' }),
  msg({
    message:
      'Wait 72 hours before the next attempt. A number whose status is CONNECTED does not need to be registered again.',
  }),
  msg({ message: 'The access token is wrong, revoked or expired.' }),
  msg({ message: 'The access token lacks a permission, or the account is not assigned to its system user.' }),
  msg({ message: 'WhatsApp could not be reached: {reason}.' }),
  msg({ message: 'Check that this server can reach GRAPH_API_URL, then repeat this step.' }),
  msg({ message: 'WhatsApp said ({code}): {value1}.' }),
  msg({ message: 'Look up the code in the documentation of the WhatsApp Business Platform.' }),
  msg({ message: 'The app secret does not match the app of this access token.' }),
  msg({
    message:
      'Copy the app secret from the app dashboard of Meta (App settings > Basic), of the app that the token was created for, and replace the secrets of this account, or META_APP_SECRET.',
  }),
  // From accounts/whatsapp/connect/register.ts.
  msg({
    message: 'The number is registered with the Cloud API. Keep its PIN: it is needed to register the number again.',
  }),
  // From accounts/whatsapp/connect/stored.ts.
  msg({ message: 'Replace the token.' }),
  // From accounts/whatsapp/connect/subscribe.ts.
  msg({ message: 'The app is subscribed to the WhatsApp Business Account, so WhatsApp reports statuses.' }),
  msg({
    message: 'WhatsApp did not say to which app the token belongs, so Waybill cannot set the callback URL for you.',
  }),
  msg({ message: 'Repeat this step in some minutes.' }),
  msg({ message: 'Meta called {url}, accepted the answer, and now sends callbacks there.' }),
  msg({ message: 'META_VERIFY_TOKEN is not set, so Waybill rejects the check that Meta makes of a callback URL.' }),
  msg({
    message:
      'Ask the operator of this server to set META_VERIFY_TOKEN in its environment to a random text, such as the output of “openssl rand -hex 16”, and to restart it.',
  }),
  msg({ message: 'WAYBILL_PUBLIC_URL is not an https address, so Waybill cannot set the callback URL for you.' }),
  msg({
    message:
      'Ask the operator of this server to set WAYBILL_PUBLIC_URL in its environment to the https address at which the internet reaches it, and to restart it.',
  }),
  msg({ message: 'so Waybill cannot set the callback URL for you, and rejects every callback.' }),
  msg({ message: 'Copy it from Meta’s app dashboard (App settings > Basic)' }),
  msg({ message: 'Waybill does not have the app secret, {consequence}' }),
  msg({
    message:
      '{copy} and replace the secrets of this account. Or ask the operator of this server to set META_APP_SECRET for all accounts, and to restart it.',
  }),
  msg({ message: 'The app secret of this account cannot be decrypted with the configured keys, {consequence}' }),
  msg({ message: '{copy} and replace the secrets of this account.' }),
  // From accounts/whatsapp/connect/token.ts.
  msg({ message: '{message} It has no access to a phone number.' }),
  msg({
    message:
      'In Meta Business Suite, open Settings > Accounts > WhatsApp accounts and assign the account to the system user of the token with full control. The account needs a phone number: add one in WhatsApp Manager.',
  }),
  msg({ message: 'Create a new token for the system user in Meta Business Suite.' }),
  msg({ message: 'The token is valid{value}. {value1}' }),
  msg({ message: ' and belongs to the app “{appName}”' }),
  msg({ message: '{message} It lacks the permission {value1}.' }),
  msg({
    message:
      'Create a new token for the system user with the permissions whatsapp_business_messaging and whatsapp_business_management.',
  }),
  msg({ message: 'It does not expire.' }),
  msg({ message: 'It expires {value} ({value1}). Use a token that never expires for a server.' }),
  msg({ message: 'WhatsApp says that it is not valid.' }),
  // From dashboard/endpoint-failure.ts.
  msg({ message: 'check that your application accepts the event' }),
  msg({ message: 'check the signing secret' }),
  msg({ message: 'check the path of the URL' }),
  msg({ message: 'your application must accept POST requests' }),
  msg({ message: 'check the proxy in front of your application' }),
  msg({ message: 'let your application accept larger requests' }),
  msg({ message: 'limit the deliveries per second' }),
  msg({ message: 'Failing since {since}: {error}.' }),
  msg({ message: 'Failing since {since}: {error}; {hint}.' }),
  msg({ message: 'Failing in several ways since {since}. Last error: {error}.' }),
  msg({ message: 'timed out' }),
  msg({ message: 'timed out after {duration}' }),
  msg({ message: 'the response headers are too large' }),
  msg({ message: 'the request could not be built: check the headers of the endpoint' }),
  msg({ message: 'the signing secret of the endpoint cannot be decrypted' }),
  msg({ message: 'renew the certificate' }),
  msg({ message: 'enter the URL that it redirects to' }),
  msg({ message: 'connection refused' }),
  msg({ message: 'the host could not be resolved, or is not public' }),
  msg({ message: 'the host is not reachable' }),
  msg({ message: 'the proxy of this server did not connect to the host' }),
  msg({ message: 'TLS: the certificate has expired' }),
  msg({ message: 'TLS: the certificate is for another host' }),
  msg({ message: 'TLS: the certificate is not trusted' }),
  msg({ message: 'send the whole certificate chain' }),
  msg({ message: 'TLS: no secure connection' }),
  msg({ message: 'the connection was lost' }),
  msg({ message: 'the connection closed before the response was complete' }),
  msg({ message: 'the response is not valid HTTP' }),
  // From webhooks.ts.
  msg({ message: 'WhatsApp accepted the message.' }),
  msg({ message: "The message reached the recipient's device." }),
  msg({ message: 'The recipient opened the message. Recipients who hide this are never reported as having read it.' }),
  msg({ message: 'WhatsApp could not deliver the message; `error` says why, with the code that WhatsApp gave.' }),
  msg({
    message:
      'WhatsApp has sent no response and no status for an hour (`WAYBILL_OUTCOME_UNKNOWN_AFTER`), so the message may have been sent or not. Reported once; a status that comes later is reported as usual.',
  }),
  msg({
    message:
      'The recipient tapped a quick-reply button of the message, completed its flow, or answered it with a text. Other messages of the recipient are not reported.',
  }),
  msg({
    message:
      'WhatsApp rejected its access token or disabled it, or a user deactivated it: every send from it is rejected until it is active again. Reported once.',
  }),
  msg({ message: 'Its token was replaced, or it was activated.' }),
  msg({ message: 'Reported 14, 7 and 1 days before the access token expires, and on the last day.' }),
  msg({
    message:
      'WhatsApp rates each phone number by how often recipients block or report its messages. A low rating can lower the messaging limit.',
  }),
  msg({
    message:
      'Every attempt to deliver to an endpoint has failed for five minutes, or Waybill has disabled it. Reported once, to the other endpoints of the account that ask for it; again after a delivery has succeeded or the endpoint was enabled.',
  }),
  msg({
    message:
      'The recipient sent a word such as STOP, stopped marketing messages in WhatsApp, or WhatsApp rejected a message because of that (131050). Marketing messages to the recipient are rejected from now on.',
  }),
  msg({ message: 'The recipient sent a word such as START, or resumed marketing messages in WhatsApp.' }),
  msg({ message: 'WhatsApp approved a template, or resumed a paused one: it can be sent.' }),
  msg({
    message: 'WhatsApp rejected a template in its review; `reason` says why. Change it and submit it again.',
  }),
  msg({
    message:
      'WhatsApp paused a template because recipients blocked or reported it, or disabled it after several pauses: `status` says which. It cannot be sent.',
  }),
  msg({
    message:
      'WhatsApp assigned another category than before, or than the one asked for. Prices and limits follow the category.',
  }),
  msg({ message: 'Sent once, when the account owner tests an endpoint. It reports no real event.' }),
  // From templates/gallery.ts.
  msg({ message: 'Order confirmed' }),
  msg({ message: 'Thank a customer for an order, with a link to it.' }),
  msg({ message: 'Order shipped' }),
  msg({ message: 'Announce that an order has shipped, with a tracking link.' }),
  msg({ message: 'Delivery failed' }),
  msg({ message: 'Report a failed delivery and offer another day.' }),
  msg({ message: 'Appointment reminder' }),
  msg({ message: 'Remind a customer of an appointment, with replies to confirm or reschedule.' }),
  msg({ message: 'Invoice available' }),
  msg({ message: 'Send the link to an invoice, with its amount and due date.' }),
  msg({ message: 'Payment failed' }),
  msg({ message: 'Report a failed payment, with a link to pay again.' }),
  msg({ message: 'Password reset' }),
  msg({ message: 'Send a link to reset a password.' }),
  msg({ message: 'One-time code' }),
  msg({ message: 'Send a sign-in code with a button that copies it. WhatsApp provides the text.' }),
  // From templates/samples.ts.
  msg({ message: 'a PDF document' }),
  // From templates/rules.ts.
  msg({ message: 'must have lower-case letters (a to z), digits and underscores only, such as order_shipped' }),
  msg({ message: 'must be a language of WhatsApp, such as en, en_US, es or pt_BR' }),
  msg({ message: 'must have at most {limit} characters; it has {length}' }),
  msg({ message: 'must be left out: a MARKETING template of the Cloud API has none' }),
  msg({ message: 'must be {least} to {most} in the category {category}' }),
  msg({ message: 'must be left out: WhatsApp writes the text of an AUTHENTICATION template itself' }),
  msg({ message: 'must be true: WhatsApp requires that you accept its terms for zero-tap codes' }),
  msg({ message: 'must be an Android package of two or more segments, such as com.example.shop' }),
  msg({ message: 'must be the 11 characters of the app’s signing key hash' }),
  msg({ message: 'must be left out in the category {category}' }),
  msg({ message: 'is required in the category {category}' }),
  msg({ message: 'must not be empty: leave it out instead' }),
  msg({ message: 'must be one SPM button under a product' }),
  msg({ message: 'must have exactly one of link and handle: WhatsApp reviews a sample of the file' }),
  msg({ message: 'must have at most one variable' }),
  msg({ message: "must number its variable '{{1}}'" }),
  msg({ message: "is required: WhatsApp reviews an example value of '{{'{key}'}}'" }),
  msg({ message: 'must be left out: the text has no variable' }),
  msg({ message: 'must not be blank' }),
  msg({ message: 'must not have more than two line breaks in a row' }),
  msg({ message: "must be left out: the text has no '{{'{key}'}}'" }),
  msg({ message: 'must not have a line break, a tab or more than four spaces in a row' }),
  msg({
    message:
      "must write each variable as '{{1}}' or '{{first_name}}': two braces, and letters, digits and underscores inside",
  }),
  msg({ message: 'must not start with a variable: put words before it' }),
  msg({ message: 'must not end with a variable: put words or a full stop after it' }),
  msg({ message: 'must not have two variables next to each other: put words between them' }),
  msg({
    message: "must have either numbered variables such as '{{1}}' or named ones such as '{{first_name}}', not both",
  }),
  msg({ message: 'must be one line: no line break and no tab' }),
  msg({ message: 'must not have emoji or formatting (asterisks, underscores around words, tildes, backticks)' }),
  msg({ message: 'must not have variables' }),
  msg({ message: 'must have at most {most} of type {type}; there are {count}' }),
  msg({ message: 'must have at most {buttons} buttons; there are {length}' }),
  msg({ message: 'must have all QUICK_REPLY buttons together, before or after the others' }),
  msg({ message: 'must have no other button beside {value}' }),
  msg({ message: 'is required in a button of type {type}' }),
  msg({ message: 'must be left out: a button of type {type} has none' }),
  msg({ message: 'must be the country code and the number, such as +34600111222: digits only, at most 20 characters' }),
  msg({ message: 'must have letters (a to z) and digits only' }),
  msg({ message: "must be a complete address, such as https://example.com/track/'{{1}}'" }),
  msg({ message: "must have its variable at the very end, such as https://example.com/track/'{{1}}'" }),
  msg({ message: 'must not lead to WhatsApp itself: WhatsApp rejects wa.me links' }),
  msg({ message: 'is required: WhatsApp reviews an example value of the variable in the address' }),
  msg({ message: 'must be left out: the address has no variable' }),
  msg({ message: 'must have 2 to {cards} cards; there are {length}' }),
  msg({ message: 'must be left out: a carousel has a body and cards only' }),
  msg({ message: 'must be {value}, as on the first card' }),
  msg({ message: 'must be on all cards or on none' }),
  msg({ message: 'must have the same kinds of buttons in the same order as the first card' }),
  msg({ message: 'must be IMAGE, VIDEO or PRODUCT: a card shows a picture, a video or a product' }),
  msg({ message: 'must be left out: a product card has no text' }),
  msg({ message: 'must have 1 or {cardButtons} buttons' }),
  msg({ message: 'must be {value} on a card' }),
  msg({ message: 'requires the category MARKETING' }),
  msg({ message: 'must be left out: a limited-time offer has no footer' }),
  msg({ message: 'must be IMAGE or VIDEO in a limited-time offer' }),
  msg({ message: 'must be one URL button, or COPY_CODE followed by URL, in a limited-time offer' }),
  // From whatsapp/simulator/messages/recipients.ts.
  msg({
    message:
      'Rejected by /marketing_messages (131055), as if the template were no marketing template; accepted by /messages',
  }),
  msg({ message: 'Rejected by /marketing_messages (134100); accepted by /messages' }),
  msg({
    message: 'Rejected by /messages (131061), as a template with a maximum price; accepted by /marketing_messages',
  }),
  msg({
    message:
      'Rejected by /messages (131063), as if marketing templates were switched off there; accepted by /marketing_messages',
  }),
  msg({
    message:
      'Rejected by /marketing_messages (131055); accepted by /messages, but the connection closes before the response',
  }),
  msg({ message: 'Rejected by /messages (131063); /marketing_messages never responds' }),
  msg({ message: 'Accepted after 3 seconds' }),
  msg({ message: 'Accepted, held for quality assessment, then failed (132015)' }),
  msg({ message: 'Accepts the request and never responds' }),
  msg({ message: 'Accepted, but the connection closes before the response; statuses arrive' }),
  msg({ message: 'Accepted, but the response is cut off; statuses arrive' }),
  msg({ message: "Responds with 502 and a proxy's HTML page" }),
  msg({ message: 'Responds with 200 and a body that is not JSON' }),
  msg({ message: "Responds with 404 and a web server's HTML page" }),
  msg({ message: 'Responds with a redirect to another host' }),
  msg({ message: 'Responds with 500 and an unknown error code' }),
  msg({ message: 'Delivered, but never read' }),
  msg({ message: 'Read immediately, so that no delivered status is sent' }),
  msg({ message: 'Accepted, then undeliverable (131026)' }),
  msg({ message: 'Accepted, then withheld by WhatsApp (131049)' }),
  msg({ message: 'Statuses arrive in the wrong order' }),
  msg({ message: 'Each status arrives three times' }),
  msg({ message: 'Fails on one device and is delivered to another' }),
  msg({ message: 'No status arrives' }),
  msg({ message: 'Read, then taps the first quick-reply button, if there is one' }),
  msg({ message: 'Read, then taps the last quick-reply button, if there is one' }),
  msg({ message: 'Read, then replies "Thank you"' }),
  msg({ message: 'Read, then completes the flow of the message, if there is one' }),
  msg({ message: 'Read, then replies "Thank you"; the callback arrives three times' }),
  msg({ message: 'Read, then writes "Hello" without replying to the message, which is not reported' }),
  msg({ message: 'Read, then replies "STOP": opts out' }),
  msg({ message: 'Read, then replies "STOP" and later "START": opts out and in again' }),
  msg({ message: 'Read, then stops marketing messages in WhatsApp: opts out' }),
  msg({ message: 'Read, then stops marketing messages in WhatsApp, and later resumes them' }),
  // From http/dashboard/authorize.ts.
  msg({ message: 'You are not signed in, or your session has ended. Sign in again.' }),
  msg({ message: 'Sign in first.' }),
  msg({ message: 'accountId: you have no account with this ID.' }),
  msg({ message: 'You view this account as an operator, and operators cannot change it.' }),
  msg({ message: 'Viewers cannot change anything. Ask an owner of this account.' }),
  msg({ message: 'Operators need an authenticator app. Turn it on in your profile.' }),
  msg({
    message:
      'Operators need a session that was started with a code of their authenticator app. Sign in again with your password and a code.',
  }),
  msg({
    message:
      'This request was rejected because it came from a site other than the dashboard. Behind a proxy, pass the Host header on unchanged.',
  }),
  // From http/dashboard/auth.ts.
  msg({ message: 'signed out' }),
  msg({ message: 'changed their password' }),
  msg({ message: 'began to set up an authenticator app' }),
  msg({ message: 'disabled their authenticator app' }),
  // Stored by earlier versions.
  msg({ message: 'put away their authenticator app' }),
  msg({ message: 'confirmed their authenticator app' }),
  // From http/limits/load-limit.ts.
  msg({ message: 'The service is busy. Nothing was sent. Try again in a moment.' }),
  // From http/api/errors.ts.
  msg({ message: 'The database is unavailable. Nothing was sent. Try again in a moment.' }),
  msg({ message: 'Internal error. Contact whoever operates this server, and include the request ID {requestId}.' }),
  msg({ message: 'There is no such route.' }),
  // From accounts/whatsapp/active-account.ts.
  msg({
    message: 'accountId: no WhatsApp account of yours has this ID. Leave it out to use the default account.',
  }),
  msg({ message: 'No default WhatsApp account is set up. Add one, or name one in accountId.' }),
  msg({ message: 'The WhatsApp account {id} is inactive: {inactiveReason}.' }),
  // From accounts/whatsapp/add.ts.
  msg({ message: 'Phone number ID {phoneNumberId} is already in use.' }),
  msg({ message: 'phone number ID' }),
  msg({ message: 'access token' }),
  msg({ message: 'app secret' }),
  msg({ message: 'WABA' }),
  msg({ message: "The {name} must be digits only, as shown in Meta's WhatsApp Manager. It is not the phone number." }),
  msg({ message: 'The {name} is empty or contains a space or another invalid character.' }),
  // From accounts/whatsapp/change.ts.
  msg({ message: 'This WhatsApp account is inactive and cannot send. Activate it first.' }),
  msg({ message: '{id} is the default WhatsApp account. Make another one the default first.' }),
  // From accounts/whatsapp/phone-number.ts.
  msg({ message: 'WhatsApp does not show this phone number to this access token' }),
  msg({ message: 'WhatsApp does not show this WhatsApp Business Account to this access token' }),
  msg({ message: 'The phone number does not belong to this WhatsApp Business Account. Check both IDs.' }),
  msg({
    message:
      'This access token lacks the permission whatsapp_business_messaging, so WhatsApp would reject every send. Create one with this permission.',
  }),
  msg({
    message:
      'The access token could not be verified with WhatsApp: {reason}. Nothing was stored. Try again in a moment.',
  }),
  msg({ message: 'WhatsApp rejects this access token ({words}).' }),
  msg({ message: '{denied} ({words}). Check the ID and the permissions of the token.' }),
  // From accounts/whatsapp/refusals.ts.
  msg({ message: 'WhatsApp disabled a business account' }),
  // From accounts/whatsapp/store.ts.
  msg({ message: 'WhatsApp disabled the business account' }),
  // From accounts/whatsapp/update.ts.
  msg({ message: 'The WhatsApp account was changed at the same time. Nothing was stored.' }),
  // From accounts/whatsapp/whatsapp-account.ts.
  msg({ message: 'deactivated by a user' }),
  msg({ message: 'WhatsApp account {value} was not found.' }),
  // From accounts/ip-allow-list.ts.
  msg({
    message:
      '{value} is neither an IP address nor a CIDR range, such as 192.0.2.10, 192.0.2.0/24 or 2001:db8::/32. The allow-list is unchanged.',
  }),
  // From accounts/suspend.ts.
  msg({ message: 'This account is suspended: nothing is sent. Ask the operator of this server to resume it.' }),
  // From accounts/api-key.ts.
  msg({ message: 'Account {accountId} already has an API key.' }),
  // From webhooks/alerts/account-texts.ts.
  msg({ message: 'phone number ID {phoneNumberId}' }),
  msg({ message: '{number} can no longer send' }),
  msg({ message: 'A user deactivated the WhatsApp account {number}.' }),
  msg({ message: 'WhatsApp rejected the WhatsApp account {number}: {reason}' }),
  msg({ message: 'It is the default, so requests that do not set accountId are rejected.' }),
  msg({ message: 'Requests that set its accountId are rejected.' }),
  msg({ message: '{number} can send again' }),
  msg({ message: 'The WhatsApp account {number} is active again.' }),
  msg({ message: 'The access token of {number} {value1}' }),
  msg({ message: 'The access token of the WhatsApp account {number} expires at {value1}.' }),
  msg({ message: 'Replace the token before then, or this account can no longer send messages.' }),
  msg({ message: 'The quality rating of {number} is now {qualityRating}' }),
  msg({ message: 'WhatsApp rates {number} {qualityRating} by how often recipients block or report its messages.' }),
  msg({
    message:
      'A low rating can lower the messaging limit. Send less often, or change the templates that recipients report.',
  }),
  msg({ message: 'expires within a day' }),
  msg({ message: 'The access token of {number} was renewed' }),
  msg({ message: 'The WhatsApp account {number} has a new access token.' }),
  // From webhooks/alerts/endpoints.ts.
  msg({ message: 'The webhook endpoint at {host} works again' }),
  msg({ message: 'The webhook endpoint at {host} fails' }),
  msg({ message: 'The webhook endpoint at {host} was disabled' }),
  msg({ message: 'Events are delivered to {name} again.' }),
  msg({ message: 'Deliveries to {name} have failed since {since}.' }),
  msg({ message: 'Deliveries to {name} have failed for several minutes.' }),
  msg({ message: 'Waybill disabled the endpoint at {name}.' }),
  msg({ message: 'Waybill disabled the endpoint at {name}: {reason}.' }),
  msg({
    message:
      'Messages are still sent, but your system does not receive their statuses. Waybill retries the deliveries. Ask your developers to check the endpoint.',
  }),
  msg({
    message:
      'Messages are still sent, but your system does not receive their statuses. Deliveries wait until the endpoint is enabled. Fix the receiving server, then enable the endpoint.',
  }),
  // From webhooks/alerts/templates.ts.
  msg({ message: 'WhatsApp rejected the template {name}' }),
  msg({ message: 'The reason is {reason}.' }),
  msg({ message: 'Change the template and submit it again.' }),
  msg({ message: 'Recipients block or report it too often. It cannot be sent.' }),
  msg({ message: 'Send it only to people who expect it, or change it.' }),
  msg({ message: 'The template {name} is approved again' }),
  msg({ message: 'It can be sent.' }),
  // From webhooks/alerts/rules/thresholds.ts.
  msg({ message: '{value}% of the messages of {name} fail' }),
  msg({ message: 'Open a failed message to see what its code means and what to do.' }),
  msg({ message: 'The messages of {name} fail less often' }),
  msg({ message: '{failed} of {total} messages of the last hour failed.' }),
  msg({ message: 'Webhook deliveries are late' }),
  msg({ message: 'Messages are still sent; only their status webhooks are late.' }),
  msg({ message: 'The oldest delivery has been due for {value} seconds.' }),
  msg({
    message:
      'A slow endpoint delays its own deliveries. If none is slow, ask your operator whether the workers keep up.',
  }),
  msg({ message: 'Webhook deliveries are on time again' }),
  msg({ message: 'No delivery is late.' }),
  msg({ message: 'No statuses arrive for {name}' }),
  msg({ message: 'WhatsApp accepted a message more than ten minutes ago, and no status has arrived since.' }),
  msg({
    message: 'WhatsApp accepted {withoutStatus} messages more than ten minutes ago, and no status has arrived since.',
  }),
  msg({ message: 'Messages are still sent, but Waybill cannot tell whether they arrive.' }),
  msg({
    message:
      'Check the callback URL of the app and the subscription in the setup of this WhatsApp account. If both are correct, WhatsApp may have an outage.',
  }),
  msg({ message: 'Statuses arrive again for {name}' }),
  msg({ message: 'WhatsApp reports the statuses of messages again.' }),
  // From fields.ts.
  msg({ message: 'must not be empty' }),
  msg({ message: 'must have at most {maxLength} characters' }),
  msg({ message: 'must not contain control characters' }),
  msg({
    message:
      'must be the country code followed by the number, 7 to 15 digits only: no +, no spaces, no hyphens, no leading zero (for example 34600111222)',
  }),
  msg({ message: 'must be a template language code such as en or en_US (with an underscore)' }),
  msg({ message: 'must be an error code such as 131026, WHATSAPP_UNAVAILABLE or UNKNOWN' }),
  msg({ message: 'must be a whole number' }),
  msg({ message: 'must be at least 1' }),
  msg({ message: 'must be at most 100' }),
  msg({ message: 'must be at most 10000' }),
  // From users/change-member.ts.
  msg({ message: 'This account has no member with this email address.' }),
  msg({ message: '{email} is the last owner of this account. Make somebody else an owner first.' }),
  // From users/invitation.ts.
  msg({ message: 'is not valid' }),
  msg({ message: 'accepted an invitation as {role}' }),
  msg({ message: 'This link sets a new password. Sign out, then open it again.' }),
  msg({ message: 'verified their email address, which removed their earlier password and authenticator app' }),
  msg({
    message: 'This invitation verifies your email address and replaces your password. Sign out, then open it again.',
  }),
  msg({ message: 'You can already sign in to this server. Sign in, then open this link again.' }),
  msg({ message: 'This user is being changed at the moment. Try again.' }),
  msg({ message: 'Too many attempts. Try again later.' }),
  msg({ message: 'must be your current password, because you can already sign in to this server' }),
  msg({ message: 'is required' }),
  msg({ message: 'This invitation was already used or has expired. Ask your Waybill administrator for a new one.' }),
  // From users/invite-member.ts.
  msg({ message: 'This person is a member already. Change their role instead.' }),
  msg({ message: 'Too many invitations. Try again later.' }),
  msg({ message: 'Too many emails wait to be sent. Try again later.' }),
  msg({ message: 'This invitation was already accepted, revoked or has expired.' }),
  // From users/operators.ts.
  msg({ message: 'made {value} an operator of this server' }),
  msg({ message: 'command line' }),
  msg({ message: 'revoked the operator access of {value}' }),
  // Stored by earlier versions.
  msg({ message: 'revoked that {value} is an operator of this server' }),
  // From users/password-reset.ts.
  msg({ message: 'This server sends no email. Ask the people who run it to reset your password.' }),
  msg({ message: 'asked for an email to reset their password' }),
  msg({ message: 'set a new password with a link from an email' }),
  msg({ message: 'This link was already used or has expired. Ask for a new one.' }),
  // From contracts/changes.ts.
  msg({ message: 'generated the API key' }),
  msg({ message: 'regenerated the API key' }),
  msg({ message: 'revoked the API key' }),
  msg({ message: 'suspended the account' }),
  msg({ message: 'resumed the account' }),
  msg({ message: 'emptied the allow-list' }),
  msg({ message: 'set the allow-list to {value}' }),
  msg({ message: 'changed the role of {email} to {role}' }),
  msg({ message: 'revoked the invitation of {email}' }),
  msg({ message: 'set the time zone to {timeZone}' }),
  msg({ message: 'created the template {name} ({language})' }),
  msg({ message: 'changed the template {name} ({language})' }),
  msg({ message: 'deleted the template {name} ({value1})' }),
  msg({ message: 'all languages' }),
  msg({ message: 'copied the template {name} ({language})' }),
  msg({ message: 'uploaded a sample {value} for a template' }),
  msg({ message: 'uploaded a file' }),
  msg({ message: 'deleted the file {mediaId}' }),
  msg({ message: 'pushed template files' }),
  msg({ message: 'synced the templates' }),
  msg({ message: 'checked an access token with WhatsApp' }),
  msg({ message: 'replaced the {value} of {whatsAppAccountId}' }),
  msg({ message: 'checked {whatsAppAccountId} with WhatsApp' }),
  msg({ message: 'subscribed the app of {whatsAppAccountId} to its callbacks' }),
  msg({ message: 'set the callback URL of the app of {whatsAppAccountId}' }),
  msg({ message: 'registered the phone number of {whatsAppAccountId}' }),
  msg({ message: 'connected phone number ID {phoneNumberId}' }),
  msg({ message: 'made {whatsAppAccountId} the default' }),
  msg({ message: 'erased a recipient' }),
  msg({ message: 'exported the data of the account' }),
  msg({ message: 'removed the account' }),
  msg({ message: 'added {count} {value1} to the suppression list' }),
  msg({ message: 'removed a recipient from the suppression list' }),
  msg({ message: 'set the categories that suppressed recipients do not get to {value}' }),
  msg({ message: 'set the chat for alerts' }),
  msg({ message: 'removed the chat for alerts' }),
  msg({ message: 'posted a test message to the chat for alerts' }),
  msg({ message: 'changed {value} of alerts' }),
  msg({ message: 'failure rate' }),
  msg({ message: 'minimum of messages' }),
  msg({ message: 'delivery lag' }),
  msg({ message: 'missing statuses' }),
  msg({ message: 'quiet hours' }),
  msg({ message: 'repetition' }),
  msg({ message: 'sent themselves a test email for alerts' }),
  msg({ message: 'Too many test emails. Try again later.' }),
  msg({ message: 'acknowledged the alert {alertId}' }),
  msg({ message: 'added a webhook endpoint' }),
  msg({ message: 'added a webhook endpoint at {host}' }),
  msg({ message: 'changed {value} of the webhook endpoint {endpointId}' }),
  msg({ message: 'the URL' }),
  msg({ message: 'the events' }),
  msg({ message: 'the description' }),
  msg({ message: 'the headers' }),
  msg({ message: 'the deliveries per second' }),
  msg({ message: 'the concurrent requests' }),
  msg({ message: 'the deliveries per second to {limit}' }),
  msg({ message: 'the concurrent requests to {limit}' }),
  msg({ message: 'the URL to {host}' }),
  msg({ message: 'no limit' }),
  msg({ message: 'enabled the webhook endpoint {endpointId}' }),
  msg({ message: 'disabled the webhook endpoint {endpointId}' }),
  msg({ message: 'removed the webhook endpoint {endpointId}' }),
  msg({ message: 'sent a test event to {endpointId}' }),
  msg({ message: 'rotated the secret of {endpointId}' }),
  msg({ message: 'retried the delivery {deliveryId}' }),
  // From dashboard/template.ts.
  msg({ message: 'tried the template {template} ({language})' }),
  // From dashboard/webhook.ts.
  msg({ message: 'must be a whole number from 1 to {max}' }),
  msg({ message: 'must name at least one event' }),
  msg({ message: 'revealed the secret of {endpointId}' }),
  // From dashboard/whatsapp-account.ts.
  msg({ message: 'must be digits only, as WhatsApp Manager shows it; it is not the telephone number' }),
  msg({ message: 'must not be empty or hold a space' }),
  msg({ message: 'tested the token of {whatsAppAccountId}' }),
  // From dashboard/operator.ts.
  msg({ message: '{value} as an operator of this server' }),
  msg({ message: 'opened the account to view it as an operator of this server' }),
  msg({ message: 'stopped viewing the account as an operator of this server' }),
  // From messages/send/decide.ts.
  msg({ message: 'The template {value} in language {language} is not approved: its status is {status}.' }),
  // From dashboard/connect.ts.
  msg({ message: 'must be six digits' }),
  // From webhooks/endpoints/add.ts.
  msg({ message: 'An account can have at most {maxEndpoints} endpoints. Remove one first.' }),
  // From webhooks/endpoints/address.ts.
  msg({
    message:
      'must be an https URL with a public host that exists, without user name, password or fragment, such as https://example.com/webhooks',
  }),
  // From webhooks/endpoints/change.ts.
  msg({ message: 'an operator' }),
  msg({ message: 'a user' }),
  msg({ message: 'disabled by {by}' }),
  // Stored by earlier versions.
  msg({ message: 'its owner' }),
  // From webhooks/endpoints/endpoint.ts.
  msg({ message: 'Endpoint {value} was not found.' }),
  // From webhooks/endpoints/rules.ts.
  msg({ message: 'The URL of an endpoint {value}.' }),
  // From http/limits/test-calls.ts.
  msg({
    message:
      'This account may send {limit} tests to its chat and endpoints per minute. Try again in {seconds} seconds.',
  }),
  msg({
    message: 'This account may send {limit} tests to its chat and endpoints per hour. Try again in {seconds} seconds.',
  }),
  msg({
    message: 'You may test or change your alert emails {limit} times per minute. Try again in {seconds} seconds.',
  }),
  msg({ message: 'You may test or change your alert emails {limit} times per hour. Try again in {seconds} seconds.' }),
  // From accounts/rate-limit.ts.
  msg({ message: 'This account may send {limit} requests per minute. Try again in {resetSeconds} seconds.' }),
  // From templates/changes/create.ts.
  msg({
    message:
      'The template "{name}" in language {language} exists with other content ({status}). Update it, or choose another name.',
  }),
  // From templates/changes/failures.ts.
  msg({ message: 'The business account has reached its template limit.' }),
  msg({ message: 'This language of the template is being deleted.' }),
  msg({ message: 'WhatsApp has a template of this name and language already.' }),
  msg({ message: 'Update it, or choose another name.' }),
  msg({ message: 'The template cannot be changed in its present status.' }),
  // Sentences that are put together.
  msg({ message: 'The number was deleted.' }),
  msg({ message: 'The number was moved to another WhatsApp Business Account.' }),
  msg({ message: 'WhatsApp has restricted the number.' }),
  msg({ message: 'WhatsApp has banned the number.' }),
  msg({
    message:
      'Register it with its two-step verification PIN, in the setup of this WhatsApp account, or with: {command}',
  }),
  msg({
    message:
      'Create a new token for the system user in Meta Business Suite, and replace it on the WhatsApp accounts page, or with: {command}',
  }),
  msg({ message: 'The access token expires in 1 day.' }),
  msg({ message: 'The access token expires in less than a day.' }),
  msg({ message: 'The access token expires in {days} days.' }),
  msg({ message: 'The app is not subscribed to the WhatsApp Business Account, so no status arrives.' }),
  msg({ message: 'The app is not subscribed to the WhatsApp Business Account, so no status arrives: {problem}.' }),
  msg({ message: 'a JPEG or PNG image' }),
  msg({ message: 'an MP4 video' }),
  msg({ message: 'required' }),
  msg({ message: 'signed in' }),
  msg({ message: 'failed to sign in' }),
  msg({ message: 'operator' }),
  msg({ message: 'owner' }),
  msg({ message: 'viewer' }),
  msg({ message: 'invited {email} as owner' }),
  msg({ message: 'invited {email} as viewer' }),
  msg({ message: 'removed {email}' }),
  msg({ message: 'enabled API access' }),
  msg({ message: 'disabled API access' }),
  msg({ message: 'all' }),
  msg({ message: 'worker' }),
  // Sign-ins, outcomes of the sandbox and jobs.
  msg({ message: 'signed in with a password' }),
  msg({ message: 'signed in with a code of their authenticator app' }),
  msg({ message: 'signed in with a backup code' }),
  msg({ message: 'signed in with their organisation' }),
  msg({ message: 'signed in with a link' }),
  msg({ message: 'was locked out after too many attempts' }),
  msg({ message: 'ended all their other sessions' }),
  msg({ message: 'Unknown device' }),
  msg({ message: '{outcome} ({code})' }),
  msg({ message: 'Undeliverable: the number is not on WhatsApp' }),
  msg({ message: 'Withheld by WhatsApp for a healthy ecosystem' }),
  msg({ message: 'The user has opted out of marketing messages from this business' }),
  msg({ message: 'The user is part of an experiment' }),
  msg({ message: 'The business may not message users in this country' }),
  msg({ message: 'A test number may not message this recipient' }),
  msg({ message: 'Invalid parameter' }),
  msg({ message: 'The content violates a policy' }),
  msg({ message: 'The template does not exist; Waybill syncs the templates' }),
  msg({ message: 'The template is paused; Waybill treats it as paused until the next sync' }),
  msg({ message: 'The template is disabled; Waybill treats it as disabled until the next sync' }),
  msg({ message: 'Throttled: too many messages to this recipient' }),
  msg({ message: 'Throttled: too many messages per second' }),
  msg({ message: 'Throttled: too many recipients reported spam' }),
  msg({ message: 'Throttled: too many calls by this WhatsApp Business Account' }),
  msg({ message: 'Throttled: too many calls by this app' }),
  msg({ message: 'The access token is rejected; the WhatsApp account becomes inactive' }),
  msg({ message: 'The token lacks a permission; the WhatsApp account becomes inactive' }),
  msg({ message: 'The account is blocked for a policy violation; the WhatsApp account becomes inactive' }),
  msg({ message: 'The account is locked; the WhatsApp account becomes inactive' }),
  msg({ message: 'Nothing is sent until a payment problem is solved' }),
  msg({ message: 'The sending number is not registered' }),
  msg({ message: 'Unknown error of the Graph API' }),
  msg({ message: 'Graph API temporarily down' }),
  msg({ message: 'Something went wrong at WhatsApp' }),
  msg({ message: 'A service of WhatsApp is unavailable' }),
  msg({ message: 'The sending number is in maintenance' }),
  msg({ message: 'sync templates' }),
  msg({ message: 'update message counts' }),
  msg({ message: 'delete expired idempotency keys' }),
  msg({ message: 'delete old deduplication records of replies' }),
  msg({ message: 'delete expired one-time codes' }),
  msg({ message: 'create or drop partitions' }),
  msg({ message: 'delete old contents of messages' }),
  msg({ message: 'delete expired sign-ins' }),
  msg({ message: 'delete expired audit log entries' }),
  msg({ message: 'delete expired files' }),
  msg({ message: 'aggregate old message counts by day' }),
  msg({ message: 'record stale pending messages' }),
  msg({ message: 'vacuum the embedded database' }),
  msg({ message: 'report messages with an unknown outcome' }),
  msg({ message: 'check WhatsApp accounts' }),
  msg({ message: 'refresh access tokens' }),
  msg({ message: 'create health records for WhatsApp accounts from an earlier version' }),
  msg({ message: 'count the messages of the last hour' }),
  msg({ message: 'announce changes of WhatsApp accounts' }),
  msg({ message: 'announce failing webhook endpoints' }),
  msg({ message: 'announce changes of templates' }),
  msg({ message: 'alert about failure rates, late deliveries and missing statuses' }),
  msg({ message: 'send alerts that are due' }),
  msg({ message: 'close alerts' }),
  msg({ message: 'check the delivery queue' }),
]
