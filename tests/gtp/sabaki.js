// Drives two engines with Sabaki's own GTP client, as Sabaki does, and prints what it saw as JSON.
// Arguments: the folder of the package, then the engine's command line. tests/gtp/test_sabaki.py runs it.

const [folder, path, ...args] = process.argv.slice(2)
const {Controller, ControllerStateTracker} = require(folder)

// The first `count` lines of an analysis, ended as Sabaki ends it: by another command.
async function analyze(controller, command, count) {
  const lines = []
  let end
  const enough = new Promise(resolve => (end = resolve))
  const answer = controller.sendCommand(command, ({line}) => {
    if (line.startsWith('info ')) lines.push(line)
    if (lines.length === count) end()
  })
  await enough
  const abort = await controller.sendCommand({name: 'protocol_version'})
  return {lines, error: (await answer).error, abort: abort.content}
}

async function main() {
  const engines = [0, 1].map(() => {
    const controller = new Controller(path, args)
    const errors = []
    controller.on('stderr', ({content}) => errors.push(content))
    return {controller, errors, tracker: new ControllerStateTracker(controller)}
  })
  const [one, two] = engines
  engines.forEach(({controller}) => controller.start())
  const ask = async (engine, name, ...args) => (await engine.controller.sendCommand({name, args})).content
  const found = {}

  // The handshake: all questions at once
  const names = ['name', 'version', 'protocol_version', 'list_commands']
  found.handshake = await Promise.all(names.map(name => ask(one, name)))
  found.second = await ask(two, 'name')

  // A game with handicap, then another line of it: undo and play
  const play = moves => moves.split(' ').map((vertex, i) => ({name: 'play', args: ['WB'[i % 2], vertex]}))
  const handicap = {name: 'set_free_handicap', args: ['C3', 'G7']}
  const sync = (engine, moves) =>
    engine.tracker.sync({komi: 0.5, boardsize: [9, 9], history: [handicap, ...play(moves)]})
  await sync(one, 'E5 E4 F4')
  await sync(one, 'E5 E4 D4 PASS')
  found.board = await ask(one, 'showboard')
  found.komi = await ask(one, 'get_komi')

  // Both engines analyse at once
  await sync(two, 'E5')
  found.analyses = await Promise.all([
    analyze(one.controller, {name: 'analyze', args: ['W', '5']}, 3),
    analyze(two.controller, {name: 'lz-analyze', args: ['B', '5']}, 2)
  ])
  found.ownership = (await analyze(
    one.controller, {name: 'analyze', args: ['W', '5', 'ownership', 'true', 'rootInfo', 'true']}, 1)).lines

  // A move with analysis, which the client adds to its own history
  found.moves = []
  for (const [name, color] of [['genmove_analyze', 'W'], ['kata-genmove_analyze', 'B'], ['genmove', 'W']])
    found.moves.push(await ask(one, name, color, ...(name === 'genmove' ? [] : ['5'])))
  found.history = one.tracker.state.history.slice(-3).map(({args}) => args[1])

  // A rectangular board is an error, and the engine goes on
  found.refused = await one.tracker.sync({boardsize: [9, 8]}).catch(error => error.message)
  found.position = await ask(one, 'set_position', 'B', 'A1', 'W', 'B1')
  found.empty = await one.controller.sendCommand({name: ''})
  found.sgf = await ask(one, 'printsgf', '-')

  // Quit in the middle of an analysis
  one.controller.sendCommand({name: 'analyze', args: ['B', '5']})
  await Promise.all(engines.map(({controller}) => controller.stop()))
  found.errors = engines.flatMap(({errors}) => errors)
  console.log(JSON.stringify(found))
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
