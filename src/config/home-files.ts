/** The names of the files in a home folder that this layer reads or writes, or knows to be the gateway's own. */
export const homeFiles = {
  config: 'config.yaml',
  environment: '.env',
  token: 'token',
  gateway: 'gateway.json',
  lastPort: 'last-port',
  modelLimits: 'models_dev_cache.json',
  database: 'state.db',
  highWaterMark: 'state.hwm',
  ownerLock: 'gateway.lock',
} as const;
