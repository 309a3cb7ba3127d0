// Scans QR codes on the venue page. Safari and Firefox cannot read them: there our own decoder does, which is loaded when
// the camera is asked for.

const at = (id) => document.getElementById(id);
const [scan, stop, camera, picture, problem] = ["scan", "stop", "camera", "picture", "no-camera"].map(at);
const EVERY = 150;

/** What a printed code means: the code in its address, or what it says. */
function codeIn(text) {
  try {
    return new URL(text).searchParams.get("code") ?? text;
  } catch {
    return text;
  }
}

function show(running) {
  camera.hidden = !running;
  scan.hidden = running;
  scan.disabled = false;
}

function end() {
  for (const track of picture.srcObject?.getTracks() ?? []) track.stop();
  picture.srcObject = null;
  show(false);
}

async function look(detector, stream) {
  if (picture.srcObject !== stream) return;
  const [found] = await detector.detect(picture).catch(() => []);
  if (picture.srcObject !== stream) return;
  if (!found) return setTimeout(look, EVERY, detector, stream);
  end();
  at("code").value = codeIn(found.rawValue);
  at("look-up").submit();
}

async function newDetector() {
  const formats = (await globalThis.BarcodeDetector?.getSupportedFormats?.().catch(() => [])) ?? [];
  const { BarcodeDetector: Detector } = formats.includes("qr_code") ? globalThis : await import(scan.dataset.decoder);
  return new Detector({ formats: ["qr_code"] });
}

async function begin() {
  let stream;
  problem.hidden = scan.disabled = true;
  try {
    const video = { facingMode: "environment", width: { ideal: 1280 } };
    picture.srcObject = stream = await navigator.mediaDevices.getUserMedia({ video, audio: false });
    show(true);
    stop.focus();
    await picture.play();
    look(await newDetector(), stream);
  } catch {
    if (stream && picture.srcObject !== stream) return; // stopped meanwhile
    end();
    problem.hidden = false;
  }
}

if (navigator.mediaDevices?.getUserMedia) {
  scan.hidden = false;
  scan.addEventListener("click", begin);
  stop.addEventListener("click", () => {
    end();
    scan.focus();
  });
  addEventListener("pagehide", end);
}
